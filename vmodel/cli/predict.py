"""`vmodel predict`."""

from typing import Any

import click

from vmodel.cli.options import asked, json_option, output_option, plot_option, scenario_options
from vmodel.cli.output import as_csv, as_json_text, check_plot, ending, flat, say, say_json, write, write_figure
from vmodel.solve.solver import predict

FIGURES = ("waterfall", "tornado", "path")


@click.command("predict")
@scenario_options()
@plot_option("where the time goes, or another --figure")
@click.option("--figure", type=click.Choice(FIGURES), default=FIGURES[0], show_default=True, help="what --plot draws")
@click.option(
    "--beside",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="another VM or flow on the same hosts, by what differs: path, load, size, count, weight ...; repeatable",
)
@click.option("--shared-worker", is_flag=True, help="one vhost worker or I/O thread serves all VMs of a host")
@click.option(
    "--bucket",
    metavar="N",
    help="worst case of a source of packets that sends no more than N at once beyond its load (token bucket)",
)
@json_option
@output_option("csv, json, md")
def predict_command(
    *,
    plot: str | None,
    figure: str,
    beside: tuple[str, ...],
    shared_worker: bool,
    bucket: str | None,
    as_json: bool,
    output: str | None,
    **flags: Any,
) -> None:
    """Latency, throughput, rates, CPU and bottleneck of one configuration.

    Without profile and topology those are taken on which the path is best known, and the answer says so.
    """
    kind = ending(output, ("csv", "json", "md"))
    check_plot(plot)
    scenario, given = asked(flags)
    sharing = None
    if beside or shared_worker:
        from vmodel.cli.beside import shared

        sharing = shared(scenario, flags, beside, shared_worker=shared_worker)
    worst = None
    if bucket is not None:
        from vmodel.cli.beside import bounded

        worst = bounded(scenario, bucket)
    prediction = predict(scenario)
    if plot is not None:
        from vmodel.report.single import DRAWINGS

        write_figure(plot, DRAWINGS[figure](prediction))
    if as_json or kind in ("csv", "json"):
        from vmodel.report.record import as_json as record_of

        record = record_of(prediction)
        if sharing is not None:
            from vmodel.report.sharing import sharing_json

            record["shared"] = sharing_json(sharing)
        if worst is not None:
            from vmodel.report.sharing import worst_json

            record["worst_case"] = worst_json(worst)
        if as_json:
            say_json(record)
        if output is not None and kind != "md":
            write(output, as_json_text(record) if kind == "json" else as_csv([flat(record)]))
    if kind == "md" or not (as_json or output or plot):
        from vmodel.report.text import prediction_lines, prediction_markdown
        from vmodel.solve.explain import idle_settings

        idle = idle_settings(scenario, given)
        if output is not None:
            write(output, prediction_markdown(prediction, idle))
        else:
            say("\n".join(prediction_lines(prediction, idle)))
            from vmodel.report.sharing import sharing_lines, worst_lines

            if sharing is not None:
                say("\n".join(["", *sharing_lines(sharing)]))
            if worst is not None:
                say("\n".join(["", *worst_lines(worst)]))
