// Numbers as Python writes them, and functions of its library that JavaScript has not.

// numbers as text

function $fixed(x, digits) {
  const shown = x.toFixed(digits);
  const scaled = Math.abs(x) * 10 ** digits;
  if (scaled < 2 ** 50 && scaled % 1 === 0.5 && Math.floor(scaled) % 2 === 0 && Number(scaled / 10 ** digits) === Math.abs(x)) {
    return (Math.sign(x) * (Math.floor(scaled) / 10 ** digits)).toFixed(digits); // an exact half goes to the even digit
  }
  return shown;
}

function $scientific(x, digits) {
  const [mantissa, exponent] = x.toExponential(digits).split("e");
  return `${mantissa}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

function $general(x, digits) {
  const places = digits || 1;
  if (x === 0) return Object.is(x, -0) ? "-0" : "0";
  const exponent = Number(x.toExponential(places - 1).split("e")[1]);
  if (exponent < -4 || exponent >= places) {
    const [mantissa, power] = $scientific(x, places - 1).split("e");
    return `${mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa}e${power}`;
  }
  const shown = $fixed(x, places - 1 - exponent);
  return shown.includes(".") ? shown.replace(/\.?0+$/, "") : shown;
}

function $format(x, spec) {
  if (spec === "") return $py.str(x);
  const found = /^(\+?)(\d*)(?:\.(\d+))?([gfe%]?)$/.exec(spec);
  if (!found) throw new $Raised("ValueError", `the format ${spec}`);
  const [, sign, width, precision, kind] = found;
  if (typeof x === "string") return x.padEnd(Number(width));
  const number = Number(x);
  const digits = precision === undefined ? 6 : Number(precision);
  let shown;
  if (!Number.isFinite(number)) shown = Number.isNaN(number) ? "nan" : number > 0 ? "inf" : "-inf";
  else if (kind === "f") shown = $fixed(number, digits);
  else if (kind === "e") shown = $scientific(number, digits);
  else if (kind === "%") shown = `${$fixed(number * 100, digits)}%`;
  else if (kind === "g" || precision !== undefined) shown = $general(number, digits);
  else shown = String(number);
  if (sign && number >= 0) shown = `+${shown}`;
  return shown.padStart(Number(width));
}

// functions of the standard library that JavaScript has not, to the last digits of a double

const $STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156];

function $lgamma(x) {
  if (x === Infinity) return x;
  if (x <= 0 && Number.isInteger(x)) throw new $Raised("ValueError", "lgamma at a pole");
  if (x < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - $lgamma(1 - x);
  let product = 1;
  let y = x;
  while (y < 12) product *= y++;
  const square = y * y;
  let series = 0;
  let power = y;
  for (const term of $STIRLING) {
    series += term / power;
    power *= square;
  }
  const near = x - 2; // both zeros, at one and at two, by their series: the difference below would lose its digits
  if (Math.abs(near) < 0.01 || Math.abs(x - 1) < 0.01) return $lgammaNear(Math.abs(near) < 0.01 ? near : x - 1, x > 1.5);
  return (y - 0.5) * Math.log(y) - y + Math.log(2 * Math.PI) / 2 + series - Math.log(product);
}

const $EULER = 0.57721566490153286;
const $ZETA = [1.6449340668482264, 1.2020569031595942, 1.0823232337111382, 1.03692775514337, 1.0173430619844491,
  1.0083492773819228, 1.0040773561979443, 1.0020083928260822];

function $lgammaNear(d, two) {
  let sum = -$EULER * d;
  let power = d;
  $ZETA.forEach((zeta, i) => {
    power *= d;
    sum += ((i % 2 ? -1 : 1) * zeta * power) / (i + 2);
  });
  return two ? sum + Math.log1p(d) : sum;
}

function $erfc(x) {
  if (x < 0) return 2 - $erfc(-x);
  if (x > 27) return 0;
  if (x < 2) {
    let term = x;
    let sum = x;
    for (let n = 1; n < 200 && Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
      term *= (2 * x * x) / (2 * n + 1);
      sum += term;
    }
    return 1 - ((2 / Math.sqrt(Math.PI)) * Math.exp(-x * x)) * sum;
  }
  const tiny = 1e-300; // Lentz's continued fraction
  let b = x * x + 0.5;
  let c = 1 / tiny;
  let d = 1 / b;
  let h = d;
  for (let n = 1; n < 500; n++) {
    const a = -n * (n - 0.5);
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    const change = d * c;
    h *= change;
    if (Math.abs(change - 1) < 1e-16) break;
  }
  return (x * Math.exp(-x * x) * h) / Math.sqrt(Math.PI);
}

function $domain(make, holds) {
  return (x) => {
    if (!holds(x)) throw new $Raised("ValueError", `math of ${x}`);
    return make(x);
  };
}

const $math = {
  ceil: (x) => Math.ceil(x),
  erfc: $erfc,
  exp: (x) => Math.exp(x),
  expm1: (x) => Math.expm1(x),
  floor: (x) => Math.floor(x),
  isclose: (a, b) => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b)),
  isfinite: (x) => Number.isFinite(x),
  isnan: (x) => Number.isNaN(x),
  lgamma: $lgamma,
  log: $domain(Math.log, (x) => x > 0),
  log1p: $domain(Math.log1p, (x) => x > -1),
  sqrt: $domain(Math.sqrt, (x) => !(x < 0)),
  ulp: (x) => (x === 0 ? Number.MIN_VALUE : $arrays()),
};
