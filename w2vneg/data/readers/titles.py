"""Names that people know items by, from a table of ids and titles."""

from .layout import Column
from .names import as_word
from .tables import Tables
from .text import utf8_or_latin_1


def read_titles(path, columns=(1, 2), lowercase=False):
    """Read what items are called.

    Parameters
    ----------
    path : str or Path
        A table as `Tables` reads them; UTF-8, or else Latin-1.
    columns : (int or str, int or str)
        Numbers from 1 on, or names, of the columns with ids and with titles.
    lowercase : bool
        Whether the vocabulary is of ids that were lower-cased.

    Returns
    -------
    dict, str -> str
        Id, as a vocabulary has it, to the first title that is not empty.

    Raises
    ------
    InputError
        If the file cannot be read, or a column is not there.
    """
    option = "--titles-cols"
    wanted = [
        Column("id", option, "name", columns[0], may_be_empty=True),
        Column("title", option, "name", columns[1], may_be_empty=True),
    ]
    titles = {}
    for batch in Tables(str(path), wanted, encoding=utf8_or_latin_1(path)):
        ids, texts = batch.columns["id"], batch.columns["title"]
        words, shown = [as_word(name, lowercase) for name in ids.names], [text.strip() for text in texts.names]
        for word, title in sorted(set(zip(ids.codes.tolist(), texts.codes.tolist(), strict=True))):
            if word >= 0 and title >= 0:
                titles.setdefault(words[word], shown[title])
    return titles
