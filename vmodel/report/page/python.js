// What Python's words mean, for the functions that vmodel/translate prints. Numbers are doubles in both languages;
// dicts are Maps, sets are Sets, lists and tuples are Arrays, None is null. Nothing here knows the model.

class $Raised extends Error {
  constructor(kind, where) {
    super(`${kind} at ${where}`);
    this.kind = kind;
  }
}

function $arrays() {
  throw new $Raised("TypeError", "a branch for arrays");
}

// operators

function $operand(name, reversed, a, b) {
  if (a !== null && typeof a === "object" && name in a) return a[name](b);
  if (b !== null && typeof b === "object" && reversed in b) return b[reversed](a);
  const [x, y] = [$plain(a), $plain(b)];
  if (x === undefined || y === undefined) throw new $Raised("TypeError", `${name} of ${typeof a} and ${typeof b}`);
  return name === "__add__" ? x + y : name === "__sub__" ? x - y : name === "__mul__" ? x * y : $quotient(x, y);
}

function $plain(x) {
  return typeof x === "number" ? x : typeof x === "boolean" ? Number(x) : undefined;
}

function $quotient(x, y) {
  if (y === 0) throw new $Raised("ZeroDivisionError", "a quotient");
  return x / y;
}

function $add(a, b) {
  if (typeof a === "number" && typeof b === "number") return a + b;
  if (typeof a === "string" && typeof b === "string") return a + b;
  if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b];
  return $operand("__add__", "__radd__", a, b);
}

function $sub(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (a instanceof Set && b instanceof Set) return new Set([...a].filter((x) => !b.has(x)));
  return $operand("__sub__", "__rsub__", a, b);
}

function $mul(a, b) {
  if (typeof a === "number" && typeof b === "number") return a * b;
  if (Array.isArray(a) || Array.isArray(b)) {
    const [list, count] = Array.isArray(a) ? [a, b] : [b, a];
    return Array.from({ length: Math.max(count, 0) }, () => list).flat();
  }
  if (typeof a === "string" || typeof b === "string") {
    return typeof a === "string" ? a.repeat(Math.max(b, 0)) : b.repeat(Math.max(a, 0));
  }
  return $operand("__mul__", "__rmul__", a, b);
}

function $div(a, b) {
  if (typeof a === "number" && typeof b === "number" && b !== 0) return a / b;
  return $operand("__truediv__", "__rtruediv__", a, b);
}

function $floordiv(a, b) {
  return Math.floor($quotient(Number(a), Number(b)));
}

function $mod(a, b) {
  if (Number(b) === 0) throw new $Raised("ZeroDivisionError", "a remainder");
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
}

function $pow(a, b) {
  return Number(a) ** Number(b);
}

function $neg(a) {
  return typeof a === "object" ? a.__neg__() : -a;
}

function $invert(a) {
  if (typeof a === "boolean") return !a;
  return ~a;
}

function $bitand(a, b) {
  if (typeof a === "boolean" && typeof b === "boolean") return a && b;
  if (a instanceof Set) return new Set([...a].filter((x) => b.has(x)));
  return a & b;
}

function $bitor(a, b) {
  if (typeof a === "boolean" && typeof b === "boolean") return a || b;
  if (a instanceof Set) return new Set([...a, ...b]);
  if (a instanceof Map) return new Map([...a, ...b]);
  return a | b;
}

function $iadd(a, b) {
  if (!Array.isArray(a)) return $add(a, b);
  a.push(...$list(b));
  return a;
}

function $eq(a, b) {
  if (a === b) return true;
  if (typeof a === "boolean" || typeof b === "boolean") return $plain(a) !== undefined && $plain(a) === $plain(b);
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((x, i) => $eq(x, b[i]));
  return false;
}

function $in(a, b) {
  if (typeof b === "string") return b.includes(a);
  if (b instanceof Map || b instanceof Set) return b.has(a);
  return b.some((x) => $eq(x, a));
}

// truth

function $truth(x) {
  if (x === null || x === undefined || x === false || x === 0 || x === "") return false;
  if (Array.isArray(x)) return x.length > 0;
  if (x instanceof Map || x instanceof Set) return x.size > 0;
  return true;
}

function $both(a, other) {
  return $truth(a) ? other() : a;
}

function $either(a, other) {
  return $truth(a) ? a : other();
}

function $or(value, fallback) {
  return value === undefined ? fallback() : value;
}

const $is = {
  number: (x) => typeof x === "number" || typeof x === "boolean",
  integer: (x) => typeof x === "boolean" || Number.isInteger(x),
  string: (x) => typeof x === "string",
  boolean: (x) => typeof x === "boolean",
  map: (x) => x instanceof Map,
  array: (x) => Array.isArray(x),
};

// items and records

function $list(x) {
  if (Array.isArray(x)) return x;
  if (x instanceof Map) return [...x.keys()];
  if (x === null || x === undefined) throw new $Raised("TypeError", "an iteration over nothing");
  return [...x];
}

function $entries(x) {
  return x instanceof Map ? x : x.items();
}

function $pairs(x) {
  return Array.isArray(x) || x instanceof Map ? [...x] : Object.entries(x);
}

function $object(x) {
  return Object.fromEntries($pairs(x));
}

function $record(names, values) {
  return Object.fromEntries($list(values).map((value, i) => [names[i], value]));
}

function $replace(x, changes) {
  return new x.constructor({ ...x, ...changes });
}

function $get(x, key) {
  if (x instanceof Map) {
    const found = x.get(key);
    if (found === undefined && !x.has(key)) throw new $Raised("KeyError", String(key));
    return found;
  }
  const found = x[key < 0 ? x.length + key : key];
  if (found === undefined) throw new $Raised("IndexError", String(key));
  return found;
}

function $getter(x) {
  return (key) => $get(x, key);
}

function $set(x, key, value) {
  if (x instanceof Map) x.set(key, value);
  else x[key < 0 ? x.length + key : key] = value;
}

function $slice(x, low, high) {
  return x.slice(low ?? 0, high ?? undefined);
}

function $getattr(x, name, fallback) {
  const found = x === null || x === undefined ? undefined : x[name];
  return found === undefined ? fallback : found;
}

function $hasattr(x, name) {
  return x !== null && typeof x === "object" && name in x;
}

function $cache(make) {
  const known = new Map();
  return (...keys) => {
    let table = known;
    for (const key of keys) {
      if (!table.has(key)) table.set(key, new Map());
      table = table.get(key);
    }
    if (!table.has($cache)) table.set($cache, make(...keys));
    return table.get($cache);
  };
}

const $identities = new WeakMap();
let $identity = 0;

// builtins

function $best(items, key, fallback, better) {
  const list = items.length === 1 ? $list(items[0]) : items;
  if (list.length === 0) {
    if (fallback === undefined) throw new $Raised("ValueError", "the largest of nothing");
    return fallback;
  }
  let found = list[0];
  for (const item of list.slice(1)) if (key ? better(key(item), key(found)) : better(item, found)) found = item;
  return found;
}

function $halfEven(x) {
  const down = Math.floor(x);
  const rest = x - down;
  return rest < 0.5 || (rest === 0.5 && down % 2 === 0) ? down : down + 1;
}

const $WORDS = { inf: Infinity, "-inf": -Infinity, nan: NaN };

const $py = {
  abs: (x) => Math.abs(x),
  all: (x) => $list(x).every($truth),
  any: (x) => $list(x).some($truth),
  bool: (x) => $truth(x),
  dict: (x) => new Map(x === undefined ? [] : $pairs(x)),
  enumerate: (x, start = 0) => $list(x).map((item, i) => [i + start, item]),
  float: (x) => {
    if (typeof x !== "string") return Number(x);
    const word = x.trim().toLowerCase();
    if (word in $WORDS) return $WORDS[word];
    const found = word === "" ? NaN : Number(word);
    if (Number.isNaN(found)) throw new $Raised("ValueError", x);
    return found;
  },
  frozenset: (x) => new Set(x === undefined ? [] : $list(x)),
  fromkeys: (x, value = null) => new Map($list(x).map((key) => [key, value])),
  id: (x) => {
    if (!$identities.has(x)) $identities.set(x, ++$identity);
    return $identities.get(x);
  },
  int: (x) => Math.trunc(Number(x)),
  iter: (x) => $list(x),
  len: (x) => (x instanceof Map || x instanceof Set ? x.size : x.length),
  list: (x) => (x === undefined ? [] : [...$list(x)]),
  map: ([make, ...lists]) => $py.zip(lists).map((row) => make(...row)),
  max: (items, key, fallback) => $best(items, key, fallback, (a, b) => a > b),
  min: (items, key, fallback) => $best(items, key, fallback, (a, b) => a < b),
  next: (x, fallback) => {
    const list = $list(x);
    if (list.length === 0 && fallback === undefined) throw new $Raised("StopIteration", "next");
    return list.length ? list[0] : fallback;
  },
  range: (a, b, step = 1) => {
    const [start, stop] = b === undefined ? [0, a] : [a, b];
    return Array.from({ length: Math.max(0, Math.ceil((stop - start) / step)) }, (_, i) => start + i * step);
  },
  repr: (x) => (typeof x === "string" ? `'${x}'` : String(x)),
  reversed: (x) => [...$list(x)].reverse(),
  round: (x, digits) => {
    if (digits === undefined || digits === null) return $halfEven(x);
    if (digits < 0) return $halfEven(x / 10 ** -digits) * 10 ** -digits;
    return Number.isFinite(x) && digits <= 100 ? Number($fixed(x, digits)) : x;
  },
  set: (x) => new Set(x === undefined ? [] : $list(x)),
  sorted: (x, key, reverse) => {
    const keyed = $list(x).map((item) => [key ? key(item) : item, item]);
    const sign = reverse ? -1 : 1;
    return keyed.sort(([a], [b]) => sign * (a < b ? -1 : a > b ? 1 : 0)).map(([, item]) => item);
  },
  str: (x) => (x === null ? "None" : x === true ? "True" : x === false ? "False" : String(x)),
  sum: (x, start = 0) => $list(x).reduce($add, start),
  tuple: (x) => (x === undefined ? [] : [...$list(x)]),
  zip: (lists, strict) => {
    const all = lists.map($list);
    const lengths = all.map((list) => list.length);
    if (strict && lengths.some((length) => length !== lengths[0])) throw new $Raised("ValueError", "lists of different lengths");
    const rows = [];
    for (let i = 0, count = all.length ? Math.min(...lengths) : 0; i < count; i++) {
      const row = new Array(all.length);
      for (let j = 0; j < all.length; j++) row[j] = all[j][i];
      rows.push(row);
    }
    return rows;
  },
};

// methods of strings, lists, dicts and sets

const $m = {
  add: (x, item) => void x.add(item),
  append: (x, item) => void x.push(item),
  copy: (x) => (x instanceof Map ? new Map(x) : x instanceof Set ? new Set(x) : [...x]),
  endswith: (x, end) => (Array.isArray(end) ? end.some((e) => x.endsWith(e)) : x.endsWith(end)),
  extend: (x, items) => void x.push(...$list(items)),
  get: (x, key, fallback = null) => {
    const found = x.get(key);
    return found === undefined && !x.has(key) ? fallback : found;
  },
  index: (x, item) => {
    const found = typeof x === "string" ? x.indexOf(item) : x.findIndex((y) => $eq(y, item));
    if (found < 0) throw new $Raised("ValueError", String(item));
    return found;
  },
  isdisjoint: (x, items) => !$list(items).some((item) => x.has(item)),
  items: (x) => [...x],
  join: (x, items) => $list(items).join(x),
  keys: (x) => [...x.keys()],
  ljust: (x, width) => x.padEnd(width),
  lower: (x) => x.toLowerCase(),
  lstrip: (x, chars) => x.replace(new RegExp(chars === undefined ? "^\\s+" : `^[${$class(chars)}]+`), ""),
  partition: (x, mark) => {
    const at = x.indexOf(mark);
    return at < 0 ? [x, "", ""] : [x.slice(0, at), mark, x.slice(at + mark.length)];
  },
  pop: (x, key, fallback) => {
    if (Array.isArray(x)) return key === undefined ? x.pop() : x.splice(key, 1)[0];
    const found = x.has(key) ? x.get(key) : fallback;
    if (found === undefined) throw new $Raised("KeyError", String(key));
    x.delete(key);
    return found;
  },
  removeprefix: (x, start) => (x.startsWith(start) ? x.slice(start.length) : x),
  removesuffix: (x, end) => (end && x.endsWith(end) ? x.slice(0, -end.length) : x),
  reverse: (x) => void x.reverse(),
  rjust: (x, width) => x.padStart(width),
  rstrip: (x, chars) => x.replace(new RegExp(chars === undefined ? "\\s+$" : `[${$class(chars)}]+$`), ""),
  setdefault: (x, key, value = null) => {
    if (!x.has(key)) x.set(key, value);
    return x.get(key);
  },
  split: (x, mark) => (mark === undefined ? x.trim().split(/\s+/).filter(Boolean) : x.split(mark)),
  startswith: (x, start) => (Array.isArray(start) ? start.some((s) => x.startsWith(s)) : x.startsWith(start)),
  strip: (x) => x.trim(),
  union: (x, ...others) => new Set([x, ...others].flatMap($list)),
  update: (x, other) => {
    if (x instanceof Set) for (const item of $list(other)) x.add(item);
    else for (const [key, value] of $pairs(other)) x.set(key, value);
  },
  upper: (x) => x.toUpperCase(),
  values: (x) => [...x.values()],
};

function $class(chars) {
  return chars.replace(/[\]\\^-]/g, "\\$&");
}
