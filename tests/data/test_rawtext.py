"""Words of raw text: against Unicode's own tables, cut anywhere, and through the command line."""

import os
import random
import re
import shlex
import subprocess
import sys
import time
import unicodedata
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from w2vneg import Vectors, Word2Vec
from w2vneg.data.encoded import encode_corpus
from w2vneg.data.inputs import Input, encode_input
from w2vneg.data.readers import READERS
from w2vneg.data.readers.text import CLEANERS, Stripped, read_words
from w2vneg.data.sources.corpus import _JOINED, about_words, tokenizer_of
from w2vneg.ground.errors import ConfigError, FileNote, InputError
from w2vneg.run.model import Model

SIGNS = "ab7é日न\u093f\u200d_'’-.,:;!\u0301 \n\u00a0·٣٫𝒳😀«אם\"״׳՞"


class Pieces:
    """A source of given pieces."""

    name = "here"

    def __init__(self, *pieces):
        self._pieces = pieces

    def pieces(self):
        yield from self._pieces


def words_of(*pieces, **options):
    return b"".join(read_words(Pieces(*pieces), **options)).decode().split()


def naive(text):
    """The same by regular expressions over the classes of the characters."""
    kinds = []
    for sign in text:
        category = unicodedata.category(sign)
        kind = {"L": "l", "M": "m", "N": "n"}.get(category[0], "l" if category == "Pc" else "o")
        kind = "j" if sign in "'’‘-‐‑·״՞" else "d" if sign in ".,:٫" else "m" if sign in "\u200c\u200d׳" else kind
        kind = "h" if sign in "אם" else "q" if sign == '"' else kind
        kinds.append("s" if sign.isspace() else kind)
    number = r"nm*(?:[d](?=n)nm*)*"
    letter = r"(?:lm*|hm*(?:q(?=h)hm*)*)"
    word = rf"(?:{letter}|{number})(?:[j](?=[lnh])(?:{letter}|{number})|{letter}|{number})*"
    return [text[found.start() : found.end()] for found in re.finditer(word, "".join(kinds))]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('The "king," said: don\'t—well-known!', "The king said don't well-known"),
        ("3.14 (1,000) 10:30 end.Next U.S.A. e.g.", "3.14 1,000 10:30 end Next U S A e g"),
        ("٣٫١٤ (١٬٠٠٠) ٣٫ ١٬x", "٣٫١٤ ١٬٠٠٠ ٣ ١ x"),
        ("l’été naïve col·lecció -x- x' fin-", "l’été naïve col·lecció x x fin"),
        ("नमस्ते, दुनिया! «да»; Ελλάδα…", "नमस्ते दुनिया да Ελλάδα"),
        ("日本語。テスト", "日本語 テスト"),
        ("word--word a_b x@y.org 5% C++", "word word a_b x y org 5 C"),
        ('צה״ל, מנכ"ל "של" ג׳ורג׳! א"b', 'צה״ל מנכ"ל של ג׳ורג׳ א b'),
        ("Ինչպե՞ս ես, այո՜։", "Ինչպե՞ս ես այո"),
        ("Philo\u00adsophie \u00ad x", "Philosophie x"),
    ],
)
def test_what_a_word_is(text, words):
    assert words_of(text.encode()) == words.split()


@settings(max_examples=150, deadline=None)
@given(st.text(SIGNS, max_size=40), st.data())
def test_as_regular_expressions_have_it_wherever_the_text_is_cut(text, data):
    whole = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert words_of(*pieces) == naive(text)
    assert len(b"".join(read_words(Pieces(*pieces)))) == len(whole)


def test_any_text_keeps_its_letters_and_its_lines():
    text = "".join(chr(code) for code in range(1, 0x3000) if not 0xD800 <= code < 0xE000)
    found = b"".join(read_words(Pieces(text.encode()))).decode()
    kept = [sign for sign in text if unicodedata.category(sign)[0] in "LN" or sign == "\n"]
    assert [sign for sign in found if unicodedata.category(sign)[0] in "LN" or sign == "\n"] == kept
    assert not {*found} & {*'!?;()[]{}"@#%&*+/<=>^|~'}


def test_lower_case_comes_first():
    assert words_of("ΟΔΟΣ, İstanbul!".encode(), lowercase=True) == ["οδος", "i̇stanbul"]


def test_plain_text_stays_what_it_is(tmp_path):
    rng = np.random.default_rng(1)
    lines = [" ".join(rng.choice(["one", "two", "three", "zero"], 9)) for _ in range(50)]
    (tmp_path / "text").write_text("\n".join(lines))
    plain, words = (encode_corpus(tmp_path / "text", min_count=1, reader=reader) for reader in ("text", "words"))
    assert plain.vocab == words.vocab
    assert np.array_equal(plain.ids, words.ids) and np.array_equal(plain.offsets, words.offsets)


def test_the_command_line_tells_of_raw_text_and_takes_it(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "raw").write_text("The king, the queen; and all!\nWho is king? The queen.\n" * 20)
    small = ["--loss=ns", "--dim=4", "--epochs=1", "--min-count=1", "--workers=1", "--subsample=0"]
    result = run_cli("train", "--corpus", "raw", *small, "--force")
    said = "--tokenizer words chosen: 45% of the tokens end in punctuation, such as 'king,'. To keep it: --tokenizer wh"
    assert said in result.err and "Note" not in result.err
    result = run_cli("train", "--corpus", "raw", *small, "--tokenizer", "whitespace", "--force")
    assert "chosen" not in result.err
    assert "Note: 40% of the words end in punctuation, such as 'all!'; --tokenizer words removes it." in result.err, (
        result.err
    )
    result = run_cli("train", "--corpus", "raw", "--tokenizer", "words", "--lowercase", *small, "--save-model", "m")
    assert result.code == 0 and "punctuation" not in result.err
    model = Model.load("m")
    assert sorted(model.vocab.words) == ["all", "and", "is", "king", "queen", "the", "who"]
    assert model.origin.input["tokenizer"] == "words"
    assert run_cli("train", "--resume", "m", "--epochs", 2, "--quiet").code == 0
    result = run_cli("train", "--corpus", "raw", "--tokenizer", "word")
    assert result.code == 1 and "tokenizer of an input 'word' is unknown; did you mean 'words'" in result.err
    result = run_cli("train", "--baskets", "raw", "--tokenizer", "words")
    assert result.code == 2 and "--tokenizer belongs to --corpus; --baskets does not read it" in result.err


PROSE = "The king, as Ann said, is old. The queen (of York) is new; who knows?\n"
TAGGED = "the/DT king/NN ,/, as/IN Ann/NNP said/VBD ,/, is/VBZ old/JJ ./.\n"


@pytest.mark.parametrize(
    ("text", "tokenizer"),
    [
        (PROSE, "words"),
        ("i am here.\nyou are there.\n", "words"),
        ("if x in (y, z):\n    return f(x, y)\n", "words"),
        ("@ann: what a day!!! #sun https://t.co/a1\nlol :) so true...\n", "words"),
        ("== King == is a [[title]], of a [[man]]. &lt;ref&gt;\n", "words"),
        ("今天，天气很好。我们去公园。\n", "words"),
        ("پاکستان ایک ملک ہے۔ اس کا شہر کراچی ہے، کیا آپ جانتے ہیں؟\n", "words"),
        ("ঢাকা বাংলাদেশের রাজধানী। এটি একটি বড় দেশ।\n", "words"),
        ("राम घर गया। वह सो गया।\n", "words"),
        ("राम घर गया । वह सो गया ।\n", "whitespace"),
        ("Երևանը Հայաստանի մայրաքաղաքն է։ Այն մեծ է։\n", "words"),
        ("james’ book and l’ home\n", "whitespace"),
        ("the king as ann said is old", "whitespace"),
        ("the king , as ann said , is old .\nmr. <unk> of n.v. said `` N ''\n", "whitespace"),
        ("It 's Mr. King , of the U.S. , who said no .\n", "whitespace"),
        (TAGGED, "whitespace"),
        (TAGGED.replace("/", "_"), "whitespace"),
        ("今天 ， 天气 很 好 。\n", "whitespace"),
        ("n1 n2 n3:4 new_york 1,000 3.5\n", "whitespace"),
        ("\n", "whitespace"),
    ],
)
def test_the_tokenizer_is_chosen_by_the_text(tmp_path, text, tokenizer):
    (tmp_path / "t").write_text(text * 50, encoding="utf-8")
    assert tokenizer_of([str(tmp_path / "t")], None, "utf-8") == tokenizer
    (tmp_path / "t").write_text(text * 50, encoding="utf-16")
    assert tokenizer_of([str(tmp_path / "t")], None, "utf-16") == tokenizer


def test_the_tokenizer_is_chosen_by_what_is_left_when_tags_are_gone(tmp_path):
    (tmp_path / "t.html").write_text("<p>die Frau liest ein Buch.</p>\n<p>es ist neu.</p>\n" * 20)
    for options, word in (({}, "buch.</p>"), ({"strip": "markup"}, "buch"), ({"strip": "urls"}, "buch.</p>")):
        given = Input("corpus", str(tmp_path / "t.html"), plain=True, **options)
        assert word in encode_input(given, min_count=1, lowercase=True).vocab.words
    rows = pd.DataFrame({"text": ["<p>die Frau liest ein Buch.</p>"] * 9})
    given = Input("corpus", rows, text_col="text", strip="urls,markup")
    assert "Buch" in encode_input(given, min_count=1).vocab.words


@pytest.mark.parametrize("encoding", ["idna", "undefined"])
def test_a_codec_that_cannot_read_the_beginning_chooses_nothing(tmp_path, encoding):
    (tmp_path / "t").write_text("né, or so.\n" * 50, encoding="utf-8")
    assert tokenizer_of([str(tmp_path / "t")], None, encoding) == "whitespace"
    with pytest.raises(InputError, match=f"not {encoding}"):
        Word2Vec(encoding=encoding).fit(str(tmp_path / "t"))


def test_what_cannot_be_looked_at_stays_as_it_stands(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    chosen = tokenizer_of([str(tmp_path / "pipe")], None, "utf-8")
    assert (
        chosen == "whitespace"
        and "are not inspected. For raw text: --tokenizer words, or Input(…, tokenizer='words')" in chosen.why
    )


def test_a_model_keeps_its_tokenizer(tmp_path, monkeypatch):
    """Neither a run that goes on nor one that grows looks again."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("raw", PROSE), ("plain", "the king, is old\n"), ("clean", "the king is old , and new\n")):
        (tmp_path / name).write_text(text * 20)
    small = {"loss": "ns", "dim": 4, "epochs": 1, "min_count": 1, "workers": 1, "subsample": 0}
    Word2Vec(**small).fit("raw")
    for first, tokenizer in (
        (str(tmp_path / "raw"), "words"),
        (pd.Series([PROSE] * 9), "words"),
        ("clean", "whitespace"),
    ):
        word2vec = Word2Vec(**small)
        word2vec.fit(first)
        word2vec.save("m")
        assert Model.load("m").origin.input["tokenizer"] == tokenizer
        grown = Word2Vec.load("m")
        assert ("king," in grown.fit("plain", update=True)) == (tokenizer == "whitespace")
        assert ("king," in word2vec.fit(pd.Series(["the king, is"] * 9), update=True)) == (tokenizer == "whitespace")


def test_words_that_look_like_something_else():
    plain = ["king", "queen", "mr.", "don't", "<unk>"]
    assert about_words(plain) is None and about_words([]) is None
    assert "20% of the words end in punctuation, such as 'king,'" in about_words(["king,", "queen", "the", "of", "and"])
    phrases = ["今日は天気がいいですね", "王", "ประเทศไทยสวยงาม"]
    assert "segment the text first" in about_words(phrases)
    assert about_words(["今日", "天気", "王"]) is None
    assert "as '__label__1'" in about_words(["the", "__label__1", "cat"]) and about_words(["label", "__x__"]) is None


@pytest.mark.parametrize(
    "twin",
    ["cafe\u0301", "ca\u00adfé", "office", "Philo\u00adsophie", "naïve\u200f", "\ufeffcafé", "ca\u200bfe\u2060\u0301"],
)
def test_words_in_two_spellings_of_unicode(twin):
    words = ["café", "o\ufb03ce", "Philosophie", "naïve", "m²", "m2", "i\u0307n"]
    said = about_words([*words, twin])
    assert "with two Unicode spellings: 1, such as" in said and ascii(twin if twin != "office" else "o\ufb03ce") in said
    command = said.split("first: ")[1].replace(" < FILE > text.txt", "")
    command = command.replace("python", shlex.quote(sys.executable), 1)
    done = subprocess.run(command, shell=True, input=twin.encode(), capture_output=True, check=True)
    assert done.stdout.decode() in ("café", "office", "Philosophie", "naïve")
    assert about_words(["می\u200cخواهم", "میخواهم", "क्\u200dष", "क्ष"]) is None
    assert "sed 's/İ/i/g; s/I/ı/g'" in about_words(words) and about_words(words[:-1]) is None


def test_lines_of_a_token_each_are_told(tmp_path, run_cli):
    """Else a text would be trained on its few longer lines."""
    file = tmp_path / "vertical"
    file.write_text("".join(f"# session {n}\n" + "a\nb\n" * 5 + "\n" for n in range(9)))
    with pytest.warns(FileNote, match="^90 of 99 sentences have only one token, .* join these: " + re.escape(_JOINED)):
        encode_input(Input("corpus", str(file)), min_count=1)
    file.write_text("a\nb\n" * 9)
    result = run_cli("train", "--corpus", file, "--min-count=1", "--output", tmp_path / "v.txt")
    assert result.code == 1 and "no pair to train on: every sentence has only one known word" in result.err
    assert result.err.count(_JOINED) == 1


@pytest.mark.parametrize("min_count", [1, 2])
def test_sentences_of_which_one_word_is_left_are_not_taken_for_lines_of_a_token(tmp_path, min_count):
    (tmp_path / "text").write_text("a b\n" * 30 + "".join(f"a rare{n}\n" for n in range(90)) + "a\nb\n" * 20)
    assert encode_input(Input("corpus", str(tmp_path / "text")), min_count=min_count).n_sentences == 160


def test_an_unknown_tokenizer_is_refused_before_anything_is_read():
    with pytest.raises(ConfigError, match="'wrods' is unknown; did you mean 'words'"):
        Input("corpus", "nowhere", tokenizer="wrods")
    assert {"text", "words"} <= set(READERS)


RAW = """<doc id="12" url="https://en.wikipedia.org/wiki?curid=12" title="Anarchism">
Anarchism &amp; the &lt;state&gt;&nbsp;&#8212; see http://x.org/a?b=1, www.foo.com or me.you@mail.org
a < b and c > d<br/>fin&#0;x <!-- not <this> --> 1,000 in 1984; a4 3.14, ٣
</doc>
"""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strip": "markup,urls"}, "Anarchism the state see or a b and c d fin x 1,000 in 1984 a4 3.14 ٣"),
        ({"strip": "urls", "numbers": "drop"}, None),
        ({"strip": "urls,markup", "numbers": "drop"}, "Anarchism the state see or a b and c d fin x in a4"),
        (
            {"strip": "markup,urls", "numbers": "digit"},
            "Anarchism the state see or a b and c d fin x 0,000 in 0000 a0 0.00 0",
        ),
    ],
)
def test_what_is_no_word_is_taken_out(tmp_path, options, words):
    (tmp_path / "raw").write_text(RAW)
    given = Input("corpus", str(tmp_path / "raw"), tokenizer="words", **options)
    with nullcontext() if words else pytest.warns(FileNote, match="--strip markup"):
        found = set(encode_input(given, min_count=1).vocab.words)
    if words is None:
        assert {"doc", "id", "br", "amp"} <= found and not {"https", "foo", "mail", "12", "1984", "3.14"} & found
    else:
        assert found == set(words.split())


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, len(RAW.encode())), max_size=5))
def test_what_is_taken_out_does_not_depend_on_where_the_text_is_cut(cuts):
    raw = RAW.encode()
    pieces = [raw[a:b] for a, b in zip([0, *sorted(cuts)], [*sorted(cuts), len(raw)], strict=True)]
    names = ["markup", "urls", "digit"]
    assert b"".join(Stripped("here", pieces, names).pieces()) == b"".join(Stripped("here", [raw], names).pieces())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("go <a\n href=\"x\"\n class='foo'>here</a\n> on", "go here on"),
        ('<!DOCTYPE html PUBLIC\n "-//W3C//DTD">a <input type="x"\n disabled/>b', "a b"),
        ("a <!-- one\n\n <b> two\n --> b", "a b"),
        ('<script>\nif (a < b) "<script>";\n</script>a<STYLE x="y">p {}\n</style > b', "a b"),
        ("a <b\nand, so on > c --> d <!-- e", "a <b and, so on > c --> d <!-- e"),
        (f"a <!-- {'x ' * 140_000}--> b", f"a <!-- {'x ' * 140_000}--> b"),
        ('<p>wor</b>ld Philo<lb break="no"/>sophie</p><p><hi rend="x">P</hi>hilo', "world Philosophie Philo"),
        ("wor\n  <lb n='2' break='no'/>ld, a<lb/>b<article>c</SPAN>d", "world, a b cd"),
        ("p <beta in all of\nthe words we\nhave until x > 3", "p <beta in all of the words we have until x > 3"),
        ("<a href='/'>Home</a><a href='/x'>About</a><q>yes</q><q>no</q>", "Home About yes no"),
        ("arr[i[0]]>3 a[b[1]]>c", "arr[i[0]]>3 a[b[1]]>c"),
        ("<t><![CDATA[<p>one</p>]]></t><![CDATA[two]]>a<![if !IE]> b <![endif]>", "one two a b"),
        ("x[y[0]] > 1 <! b", "x[y[0]] > 1 <! b"),
        ("if a<b and b>c; x<i && j>y", "if a c; x y"),
    ],
)
def test_tags_over_line_ends_and_within_words(text, left):
    data = text.encode()
    for size in (len(data), len(data) // 7):
        pieces = [data[i : i + size] for i in range(0, len(data), size)]
        assert b"".join(Stripped("here", pieces, ["markup"]).pieces()).decode().split() == left.split()


def test_all_decimal_digits_are_numbers(tmp_path):
    for code in range(0x110000):
        if unicodedata.category(sign := chr(code)) == "Nd":
            assert CLEANERS["digit"](f"a{sign} é".encode()).decode() == "a0 é"
            assert CLEANERS["drop"](f"a{sign} {sign}. é".encode()).decode().split()[-2:] == [f"a{sign}", "é"]
    text = "در ۱۹۸۴، ١٬٠٠٠٫٥ kg१२ １２kg ½ ²"
    assert CLEANERS["drop"](text.encode()).decode().split() == ["در", "،", "kg१२", "１２kg", "½", "²"]
    assert CLEANERS["digit"](text.encode()).decode() == "در 0000، 0٬000٫0 kg00 00kg ½ ²"
    (tmp_path / "t").write_text(text, encoding="utf-16")
    for numbers, word in (("digit", "0000،"), ("drop", "،")):
        given = Input("corpus", str(tmp_path / "t"), tokenizer="whitespace", numbers=numbers)
        assert word in encode_input(given, min_count=1, encoding="utf-16").vocab.words


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("«2023» „2023“ 1990–1995 20€ £20 50°C −5", "« » „ “ – € £ °C −"),
        ("2023، 2023。 2023।5 a…7 7…", "، 。 । a… …"),
        ("é5 5é न5 日5 5日 x\u03015 5\u0301 ‿5 ½5", "é5 5é न5 日5 5日 x\u03015 5\u0301 ‿5 ½5"),
        ("ที่๑ ที่1 की२ की2 ๑ที่ २० २०‿", "ที่๑ ที่1 की२ की2 ๑ที่ २०‿"),
        ("3.5kg 3.5日 ३.५किलो 3.5، 5\u200d 5", ".5kg .5日 .५किलो ، 5\u200d"),
    ],
)
def test_a_number_stands_alone_where_no_letter_or_mark_of_any_script_touches_it(text, left):
    assert CLEANERS["drop"](text.encode()).decode().split() == left.split()
    shifted = f"{' ' * 61}{text}".encode()
    assert CLEANERS["drop"](shifted).decode().split() == left.split()


@given(st.text("05.,:_ a–é日न\u093f\u0301٣€", max_size=30))
def test_numbers_between_signs_of_any_script_are_those_of_a_regular_expression(text):
    left = text
    for digit, goes_on in (("[0-9]", "[0-9.,:]*"), ("٣", r"[\d.,:]*")):
        left = re.sub(rf"{digit}(?<![\w\u093f\u0301]{digit}){goes_on}(?![\w\u093f\u0301])", " ", left)
    assert CLEANERS["drop"](text.encode()).decode().split() == left.split()


def test_a_word_without_end_is_not_held_whole():
    given = [b"a" * (1 << 20)] * 40
    pieces = list(Stripped("here", given, ["urls"]).pieces())
    assert b"".join(pieces) == b"".join(given)
    assert max(map(len, pieces)) < 20 << 20


_PATTERNS = {
    "markup": re.compile(rb"(?s)<!--(?!-?>).*?-->"),
    "urls": re.compile(rb"(?:[\w.+-]|\xc3\xa9)+@(?:[\w-]|\xc3\xa9)+(?:\.(?:[\w-]|\xc3\xa9)+)+"),
}


@pytest.mark.parametrize(
    ("cleaner", "signs"),
    [
        ("markup", ["<!--", "-->", "<b>", "<", "-", ">", "!", "a", "\n"]),
        ("urls", ["@", ".", "a", "+", "-", " ", "1", "é", "日"]),
    ],
)
def test_comments_and_addresses_are_those_of_a_regular_expression(cleaner, signs):
    rng = random.Random(5)
    for _ in range(5000):
        text = "".join(rng.choices(signs, k=rng.randint(0, 14))).encode()
        left = _PATTERNS[cleaner].sub(b" ", text)
        assert CLEANERS[cleaner](text) == (CLEANERS[cleaner](left) if cleaner == "markup" else left), text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("at http://x.fr/é\u00a0bonjour, https://x.jp/次\u3000次の ftp://a.b\u2009c", "at bonjour, 次の c"),
        (
            "HTTP://www.X.COM Https://x.y/a?b=ç WWW.X.COM www.дом.рф www.\u00a0x.y Ftp://x y http:// a://ftp://b",
            "www. x.y y http:// a://",
        ),
        ("иван@почта.рф user@exämple.de, ünal@x.de क@भारत.भारत việt@x.vn", ","),
        ("連絡はa@b.jpまで。 é@ @anna.b foo@bar a@b.c\u00a0d", "連絡は まで。 é@ @anna.b foo@bar d"),
    ],
)
def test_addresses_end_at_unicodes_spaces_and_may_have_letters_and_capitals(text, left):
    assert CLEANERS["urls"](text.encode()).decode().split() == left.split()


def test_addresses_end_at_all_white_space():
    for sign in map(chr, range(0x3100)):
        left = CLEANERS["urls"](f"http://x.y{sign}z www.x.y{sign}z".encode()).decode().split()
        assert left == (["z", "z"] if sign.isspace() else []), sign


@pytest.mark.parametrize("cleaner", CLEANERS)
@pytest.mark.parametrize(
    "text",
    [b"a" * 200_000 + b"@ b", b"<!--" * 50_000, b"@@c.d" * 40_000, b"<a" * 100_000, b"<a\n" * 60_000, b"-->" * 60_000],
)
def test_the_time_for_a_long_word_does_not_grow_with_its_square(cleaner, text):
    CLEANERS[cleaner](b"x")
    begun = time.process_time()
    CLEANERS[cleaner](text)
    for _ in Stripped("here", [text[i : i + 9999] for i in range(0, len(text), 9999)], [cleaner]).pieces():
        pass
    assert time.process_time() - begun < 2.0  # .1 s or less; by the square it was 20 s and more


def test_stripped_text_has_a_cache_of_its_own_and_other_encodings(tmp_path):
    (tmp_path / "raw").write_text("caf\xe9 12 tea\n" * 5, encoding="utf-16")
    plain = encode_corpus(tmp_path / "raw", min_count=1, encoding="utf-16")
    zeros = encode_corpus(tmp_path / "raw", min_count=1, encoding="utf-16", strip=["digit"])
    assert set(plain.vocab.words) == {"caf\xe9", "12", "tea"}
    assert set(zeros.vocab.words) == {"caf\xe9", "00", "tea"}
    with pytest.raises(ConfigError, match="strip must be among markup, urls, drop, digit, not 'all'"):
        encode_corpus(tmp_path / "raw", strip=["all"])
    with pytest.raises(ConfigError, match="strip of an input takes markup and urls, separated by a comma, not 'drop'"):
        Input("corpus", "raw", strip="markup,drop")


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.text("abcÉßяΩ日 .,;:!?()«»…\n\t/", max_size=60))
def test_as_gensim_has_it_where_there_are_letters_and_punctuation_alone(text):
    """Its words are runs of letters; so are ours, without digits, apostrophes, hyphens and marks."""
    utils = pytest.importorskip("gensim.utils")
    assert words_of(text.encode(), lowercase=True) == utils.simple_preprocess(text, min_len=1, max_len=10**6)


_NUMBER = re.compile(rb"[0-9](?<![\w\x80-\xff][0-9])[0-9.,:]*(?![\w\x80-\xff])")


@given(st.lists(st.sampled_from([*"09.,:;_ \n\u00e9a-", "12", "3.5", " " * 61, "b1"]), max_size=90).map("".join))
def test_numbers_that_stand_alone_are_those_of_a_regular_expression(text):
    assert CLEANERS["drop"](text.encode()).decode().split() == _NUMBER.sub(b" ", text.encode()).decode().split()
    assert len(CLEANERS["drop"](text.encode())) == len(text.encode())


def test_a_model_of_lower_case_finds_words_with_capitals(tmp_path, run_cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = {"loss": "ns", "dim": 4, "epochs": 1, "min_count": 1, "workers": 1, "subsample": 0}
    texts = pd.Series(["The King is old", "the king is IBM"] * 9)
    word2vec = Word2Vec(lowercase=True, **small)
    vectors = word2vec.fit(texts)
    word2vec.save("m")
    for found in (vectors, word2vec.wv, Vectors.load("m")):
        assert "King" in found and np.array_equal(found["IBM"], found["ibm"]) and "Queen" not in found
        assert found.id("KING") == found.words.find("king") and "king" not in dict(found.most_similar("King"))
    assert run_cli("nearest", "King", "--vectors", "m").code == 0
    assert "IBM" in (cased := Word2Vec(**small).fit(texts)) and "ibm" not in cased
