"""`w2vneg reproduce`: tables and figures of the papers, made again."""

import os

import click


@click.command()
@click.argument("name", required=False)
@click.option("--out", metavar="DIR", help="Write NAME.md, a CSV for each table and a PNG for each figure here, too.")
@click.option("--quick", is_flag=True, help="The same in small, within seconds.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of every random choice.")
def reproduce(name, out, quick, seed):
    """Make a table or figure of the papers again; without NAME list what there is.

    Prints what was done and what came out, beside the paper's figures, as Markdown. Figures need matplotlib (the extra
    'plot'); without it there are the tables alone.
    """
    from ..reproduce import STUDIES

    if name is None:
        click.echo(_list(STUDIES))
        return
    study = STUDIES[name]
    if out is not None:
        _check_place(out, name)
    done = study(lambda text: click.echo(text, err=True), quick, seed)
    text = _markdown(name, done)
    click.echo(text)
    if out is not None:
        for path in _write(out, name, done, text):
            click.echo(f"Wrote {path}.", err=True)


def _list(studies):
    width = max((len(name) for name in studies), default=0) + 2
    lines = [f"{name.ljust(width)}{_first_line(studies[name])}" for name in sorted(studies)]
    return "\n".join(lines or ["No study is there yet."])


def _first_line(study):
    lines = (study.__doc__ or "").strip().splitlines()
    return lines[0].rstrip(".") if lines else ""


def _check_place(out, name):
    from ..errors import OutputError
    from ..files.atomic import check_writable

    try:
        os.makedirs(out, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {out}: {error.strerror}; choose another place") from error
    check_writable(os.path.join(out, f"{name}.md"))


def _markdown(name, done):
    """Return a study's text and tables as one document."""
    blocks = [f"# {name}", done.text.strip()]
    for title, table in done.tables.items():
        blocks += [f"## {title}", markdown_table(table)]
    return "\n\n".join(blocks)


def markdown_table(table):
    """Return a DataFrame as a table of Markdown; an index without a name is left out."""
    named = any(name is not None for name in table.index.names)
    table = table.reset_index() if named else table
    rows = [[_cell(column) for column in table.columns]]
    rows.append(["---:" if kind.kind in "iuf" else "---" for kind in table.dtypes])
    rows += [[_cell(value) for value in row] for row in table.itertuples(index=False, name=None)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _cell(value):
    if isinstance(value, tuple):
        return " ".join(_cell(part) for part in value)
    if isinstance(value, float):
        return "–" if value != value else f"{value:.4g}"
    return str(value).replace("|", "\\|").replace("\n", " ")


def _write(out, name, done, text):
    """Write a study's files, each atomically; return their paths."""
    from ..errors import MissingExtraError
    from ..figures.still import as_bytes, drawn
    from ..files.atomic import atomic_file

    try:
        figures = {title: as_bytes(drawn(draw)) for title, draw in done.figures.items()}
    except MissingExtraError as error:
        click.echo(f"No figures, only tables: {error}", err=True)
        figures = {}
    pictures = [f"![{title}]({_file_name(name, title, 'png')})" for title in figures]
    files = {f"{name}.md": ("\n\n".join([text, *pictures]) + "\n").encode("utf-8")}
    for title, table in done.tables.items():
        named = any(level is not None for level in table.index.names)
        files[_file_name(name, title, "csv")] = table.to_csv(index=named).encode("utf-8")
    files |= {_file_name(name, title, "png"): image for title, image in figures.items()}
    paths = []
    for file, content in files.items():
        paths.append(os.path.join(out, file))
        with atomic_file(paths[-1]) as stream:
            stream.write(content)
    return paths


def _file_name(name, title, ending):
    plain = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in title)
    return f"{name}-{plain}.{ending}"
