"""What the columns of a table mean, by the names in common use."""

import re

_ID = {"id", "ids", "no", "key", "idx", "index", "num", "number", "hash", "uuid", "pk", "uri"}
TITLES = {"name", "title"}
_NAMES = {  # meaning -> names, in lower case and without the endings in `_ID`
    "user": "user users customer visitor session reviewer member client account uid u person reader listener viewer "
    "buyer shopper subscriber household usr cust query msno rater consumer player gamer gamertag steam steamid",
    "item": "item items product article movie film book track song artist sku asin isbn i business anime game recipe "
    "iid pid mid stock merchant venue location poi restaurant hotel good goods course news show video music joke app "
    "album beer tracks songs",
    "source": "source src from head node1 fromnode from_node source_node src_node start start_node citing follower "
    "sender word centre center vertex1 nodefrom node_from id1 subject origin caller srcip source_ip from_address "
    "start_station",
    "target": "target dst to tail node2 tonode to_node target_node dst_node destination dest end end_node cited "
    "followee receiver vertex2 nodeto node_to id2 object context callee dstip destination_ip to_address end_station",
    "weight": "weight count n qty quantity freq frequency plays w wt weights counts play_count playcount listens "
    "scrobbles clicks views cnt n_plays num_plays times_played edge_weight cooccurrence cooccurrences",
    "rating": "rating ratings stars star score scores overall grade grades vote",
    "time": "time timestamp date datetime unixreviewtime unix_review_time reviewtime review_time t_dat ts "
    "created_at created unixtime unix_time epoch unixts utc_time utctime",
}
_WHOLE = {"stock_code": "item", "user_name": "user", "username": "user", "node_i": "source", "node_j": "target"}
_WHOLE |= {"parent": "source", "child": "target", "appid": "item", "app_id": "item"}
_MEANT = {name: meaning for meaning, names in _NAMES.items() for name in names.split()} | _WHOLE
_UNCLEAR = {*_WHOLE, "location", "show", "pid", "reviewtime", "review_time"}  # other names of the same meaning win
_ONLY_BESIDE = {"subject": "object", "object": "subject", "origin": "destination"}
_GROUPS = {"order", "invoice", "basket", "transaction", "playlist", "cart", "receipt", "ticket", "bill", "trip"}
_BY_LAST = {"rating": "rating", "score": "rating", "stars": "rating"}
_BY_LAST |= dict.fromkeys(("time", "timestamp", "date", "datetime"), "time")
_RATED = {*_NAMES["user"].split(), *_NAMES["item"].split(), "review", "rating", "star", "my"}
_KIND = re.compile(r":(token|float|token_seq|float_seq|string|str|int|integer|long|double)(\[\])?$", re.IGNORECASE)
_THINGS = {"", "node", "token", "lemma", "protein", "gene", "entity", "term", "vertex"}  # "" is just "id" or "name"
_LABELS = {"label", "labels", "class", "classes", "category", "categories", "tag", "tags", "pos"}
_ANSWERS = {"click", "clicked", "clk", "like", "liked", "label", "buy", "bought", "purchase", "purchased"}
_ANSWERS |= {"convert", "converted", "conversion"}
_EVENT = {"event", "action", "behavior", "behaviour", "interaction", "activity"}
_EVENTS = {"view", "click", "play", "skip", "purchase", "buy", "bought", "cart", "addtocart", "add", "remove", "like"}
_EVENTS |= {"dislike", "fav", "favorite", "favourite", "wishlist", "transaction", "order", "return", "refund", "pv"}
_EVENTS |= {"share", "impression", "watch", "listen", "download", "rent", "read", "wish", "follow", "detail"}
_NEO4J = re.compile(r":(START|END)_ID(\([^()]*\))?", re.IGNORECASE)  # headers of its importer
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_TWINS = [("a", "b"), ("1", "2"), ("i", "j"), ("x", "y"), ("0", "1"), ("u", "v"), ("left", "right"), ("l", "r")]
_ENDS = [("source", "target"), ("src", "dst")]  # as first parts: SOURCE_PAGE, TARGET_PAGE
_ROW_NUMBERS = {"", "index", "row", "rownum", "rownames", "id", "no", "nr", "idx", "level_0", "unnamed_0", "edge"}
_ROW_NUMBERS |= {"row_id"}

_BODY = "text|sentence|review|comment|tweet|content|body|message|abstract|article|document|description|question|answer"
_FREE = f"{_BODY}|title|headline|summary"
_TEXTS = re.compile(rf"(\w*[_.])?({_BODY})s?_?\d*|[a-z]\w*(Text|Body|Content)", re.IGNORECASE)
_NAMED = re.compile(
    rf"(\w{{0,99}}_)?({_FREE}|label|sentiment|category|class|id|name|url|date|time|timestamp|author|rating|score|"
    r"stars|user|userid|item|itemid|product|order|transaction|invoice|basket|target|source|weight|count)(_\w{1,99}|id|no)?",
    re.IGNORECASE,
)


def sound_like_columns(names):
    """Return whether `names` (list of str) look like a header: all differ, and at least half of them are common."""
    usual = sum(_NAMED.fullmatch(name) is not None for name in names)
    return len(set(names)) == len(names) and all(names[1:]) and 2 * usual >= len(names)


def column_of_text(columns):
    """Return the column most likely to hold text: one with a typical name, preferring the one with the most blanks.

    columns : dict, name -> some of its cells (sequence; empty if unknown)
    """

    def likely(name):
        blanks = sum(cell.count(" ") for cell in columns[name] if isinstance(cell, str))
        return _TEXTS.fullmatch(name) is not None, blanks, re.search(_FREE, name, re.IGNORECASE) is not None

    return max(columns, key=likely)


def without_kind(name):
    """Return the name of a column without RecBole's ``:token`` or ``:float``."""
    return _KIND.sub("", str(name).strip())


def _parts(name):
    return [part.lower() for part in _PARTS.findall(without_kind(str(name).strip().strip("#\"' ")))]


def _plain(name):
    """Return a name in lower case, with ``_`` between its parts and without an ending such as ``_id``."""
    if end := _NEO4J.search(str(name)):
        return "source" if end[1].upper() == "START" else "target"
    parts = _parts(name)
    joined = "_".join(parts)
    if joined in _MEANT:
        return joined
    glued = re.fullmatch(r"([a-z]{3,}?)_?(ids?|no|idx|key)", joined)  # userid, movieid
    if len(parts) == 1 and glued and (glued[1] in _MEANT or glued[1] in _GROUPS):
        return glued[1]
    while len(parts) > 1 and parts[-1] in _ID:
        parts = parts[:-1]
    return "_".join(parts)


def _found(name):
    """Return (meaning or None, rank) of a name; if two names mean the same, the lower rank wins."""
    plain = _plain(name)
    stem, _, last = plain.rpartition("_")
    squeezed = plain.replace("_", "")
    for one in (plain, squeezed):
        if one in _MEANT:
            return _MEANT[one], int(one in _UNCLEAR)
    if plain in _GROUPS:
        return "user", 2
    if last in TITLES and _MEANT.get(stem) in ("user", "item"):
        return _MEANT[stem], 2
    if stem and last in _BY_LAST:
        meaning = _BY_LAST[last]
        if meaning == "time" or _RATED.issuperset(stem.split("_")):
            return meaning, 1
    if stem and last == "sku":
        return "item", 2
    _, dot, below = str(name).partition(".")  # of a table or a nested key, as plays.song_id
    meaning, rank = _found(below) if dot else (None, 9)
    return meaning, min(rank + 1, 9)


def meant_by(name):
    """Return what a column of this name holds: "user", "item", "source", "target", "weight", "rating", "time" or None.

    Case, CamelCase, separators, an ending such as ``_id`` and RecBole's ``:token`` or ``:float`` make no difference.
    """
    return _found(name)[0]


def meanings_of(head):
    """Return (meaning or None, rank) of each name (list of tuple); "subject" counts only beside "object"."""
    known = set(map(_plain, head))
    found = [_found(name) if _ONLY_BESIDE.get(one := _plain(name), one) in known else (None, 9) for name in head]
    if "track" in known:  # then pid is a playlist, not a product
        found = [("user", 2) if _plain(name) == "pid" else own for name, own in zip(head, found, strict=True)]
    return found


def last_part_means(name):
    """Return the meaning of the last of several parts, as "item" for `click_article_id`; enough for a suggestion."""
    stem, _, last = _plain(name).rpartition("_")
    return _MEANT.get(last) if stem else None


def is_label(name):
    """Return whether a column of this name holds labels, for tables that need them; `meant_by` does not know labels."""
    return _plain(name) in _LABELS


def is_answer(name):
    """Return whether a column of this name holds responses to shown items, such as `clicked` or `is_click` (bool)."""
    return _plain(name).removeprefix("is_") in _ANSWERS


def is_event(name):
    """Return whether a column of this name holds kinds of events, such as `event_type` or `behavior` (bool)."""
    return _plain(name).removesuffix("_type") in _EVENT


def names_event(cell):
    """Return whether the text of a cell is a kind of event, such as `view`, `add_to_cart` or `Purchased` (bool)."""
    parts = _parts(cell)
    stems = {part.removesuffix(end) for part in parts for end in ("", "s", "d", "ed", "ped")}
    return 0 < len(parts) <= 4 and not stems.isdisjoint(_EVENTS)


def names_things(name):
    """Return whether a column of this name holds names of users, items, nodes, words or the like."""
    parts = [part for part in _plain(name).split("_") if part not in _ID | TITLES]
    return meant_by(name) in ("user", "item", "source") or "_".join(parts) in _THINGS


def is_quantity(name):
    """Return whether a column of this name holds quantities, where values below 0 are returns."""
    return not {"quantity", "qty"}.isdisjoint(_parts(name))


def columns_meant(head):
    """Return the column indices for each meaning (dict, str -> list of int). The clearest names win: `customer_id` over
    `order_id` for the user, `artist_id` over `artist_name` for the item.
    """
    best = {}
    for place, (meaning, rank) in enumerate(meanings_of(head)):
        if meaning is not None:
            best.setdefault(meaning, {}).setdefault(rank, []).append(place)
    return {meaning: ranks[min(ranks)] for meaning, ranks in best.items()}


def twins(head):
    """Return the indices (list of tuple) of pairs of names that differ at their end or start, as item_a and item_b."""
    stems = {}
    for place, name in enumerate(head):
        parts = _parts(name)
        if len(parts) > 1 and parts[-1] in _ID:
            parts = parts[:-1]
        if parts:
            stems.setdefault(("_".join(parts[:-1]), parts[-1]), place)
            if len(parts) > 1 and any(parts[0] in ends for ends in _ENDS):
                stems.setdefault(("_".join(parts[1:]), parts[0]), place)
    return [
        (stems[stem, one], stems[stem, two])
        for stem, sign in stems
        for one, two in [*_TWINS, *_ENDS]
        if sign == one and (stem, two) in stems
    ]


def numbers_rows(name, labelled=None):
    """Return whether a column of this name may just number the rows: it has no name, or is called id or index.

    labelled : list of str, the other columns of a table with labels; "id" is a name if they hold titles at most
    """
    plain = "_".join(_parts(name))
    named = labelled is None or not {one.lower() for one in labelled if names_things(one)} <= TITLES
    return plain in _ROW_NUMBERS and (named or plain != "id")
