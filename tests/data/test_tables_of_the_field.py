"""Small tables as they come in the field, each with the outcome worked out by hand: which columns are read as what."""

import re

import pytest
from reading import encode_edges, encode_pairs, encode_ratings

from w2vneg.ground.errors import ConfigError, DoubtError, InputError

READ = {"pairs": encode_pairs, "edges": encode_edges, "ratings": encode_ratings}


def rows(head, *lines):
    return "\n".join([*([head] if head else []), *lines]) + "\n"


# name -> (kind, options, text, words of the left vocabulary and of the right one where there are two, sum of counts)
FIELD = {
    "MovieLens csv": (
        "ratings",
        {"min_rating": 4, "rectangular": True},
        rows("userId,movieId,rating,timestamp", "1,31,2.5,1260759144", "1,10,4.0,1260759179", "2,17,5.0,835355681"),
        ("1 2", "10 17"),
    ),
    "time before the rating": (
        "ratings",
        {"min_rating": 4, "rectangular": True},
        rows("userId,movieId,timestamp,rating", "1,31,1260759144,2.5", "1,10,1260759179,4.0", "2,17,835355681,5.0"),
        ("1 2", "10 17"),
    ),
    "MovieLens dat": (
        "ratings",
        {"min_rating": 4, "rectangular": True},
        rows("", "1::31::2::978300760", "1::10::4::978302109", "2::17::5::978301968"),
        ("1 2", "10 17"),
    ),
    "MovieLens u.data": (
        "ratings",
        {"min_rating": 4, "rectangular": True},
        rows("", "1\t31\t2\t881250949", "1\t10\t4\t891717742", "2\t17\t5\t878887116"),
        ("1 2", "10 17"),
    ),
    "RecBole inter": (
        "ratings",
        {"min_rating": 3, "rectangular": True},
        rows("item_id:token\tuser_id:token\ttimestamp:float\trating:float", "i1\tu1\t8.9e8\t3", "i2\tu2\t8.8e8\t2",
             "i3\tu2\t8.8e8\t5"),
        ("u1 u2", "i1 i3"),
    ),
    "Amazon reviews, items first": (
        "ratings",
        {"min_rating": 4, "rectangular": True},
        rows("asin,reviewerID,reviewerName,overall,unixReviewTime,reviewTime", "B1,A1,Ann,5,1360000000,02 2013",
             "B2,A2,Bob,1,1360000001,02 2013", "B3,A2,Bob,4,1360000001,02 2013"),
        ("A1 A2", "B1 B3"),
    ),
    "Yelp reviews": (
        "ratings",
        {"min_rating": 4, "rectangular": True},
        rows("review_id,user_id,business_id,stars,date", "r1,u1,b1,5,2014-02-13", "r2,u2,b2,2,2014-02-14",
             "r3,u2,b3,4,2014-02-14"),
        ("u1 u2", "b1 b3"),
    ),
    "Instacart, orders as users": (
        "pairs",
        {"rectangular": True},
        rows("order_id,product_id,add_to_cart_order,reordered", "2,33120,1,1", "2,28985,2,1", "3,33754,1,1"),
        ("2 3", "28985 33120 33754"),
    ),
    "H&M transactions": (
        "pairs",
        {"rectangular": True},
        rows("t_dat,customer_id,article_id,price,sales_channel_id", "2018-09-20,c1,663713001,0.05,2",
             "2018-09-20,c2,541518023,0.03,2"),
        ("c1 c2", "541518023 663713001"),
    ),
    "RetailRocket events": (
        "pairs",
        {"rectangular": True},
        rows("timestamp,visitorid,event,itemid,transactionid", "1433221332117,257597,view,355908,",
             "1433224214164,992329,view,248676,"),
        ("257597 992329", "248676 355908"),
    ),
    "Last.fm 360K without a header": (
        "pairs",
        {"rectangular": True},
        rows("", "u1\tm1\tbetty blowtorch\t2137", "u1\tm2\tdie Ärzte\t1099", "u2\tm1\tbetty blowtorch\t897"),
        ("u1 u2", "m1 m2"),
    ),
    "HetRec Last.fm": (
        "pairs",
        {"rectangular": True},
        rows("userID\tartistID\tweight", "2\t51\t13883", "2\t52\t11690", "3\t51\t11351"),
        ("2 3", "51 52"),
    ),
    "Goodreads interactions": (
        "ratings",
        {"min_rating": 4, "rectangular": True},
        rows("user_id,book_id,is_read,rating,is_reviewed", "0,948,1,5,0", "0,947,1,2,1", "1,946,1,4,0"),
        ("0 1", "946 948"),
    ),
    "goodbooks, books first": (
        "pairs",
        {"rectangular": True, "weight_col": "none"},
        rows("book_id,user_id,rating", "11,u314,5", "12,u439,3"),
        ("u314 u439", "11 12"),
    ),
    "Book-Crossing": (
        "ratings",
        {"min_rating": 5, "rectangular": True},
        rows('"User-ID";"ISBN";"Book-Rating"', '"276725";"034545104X";"0"', '"276726";"0155061224";"5"',
             '"276727";"0446520802";"6"'),
        ("276726 276727", "0155061224 0446520802"),
    ),
    "Online Retail": (
        "pairs",
        {"rectangular": True},
        rows("InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country",
             '536365,85123A,"WHITE, HEART",6,12/1/2010 8:26,2.55,17850,UK',
             "536366,71053,LAMP,2,12/1/2010 8:28,3.4,13047,UK"),
        ("13047 17850", "71053 85123A"),
    ),
    "SNAP, ends named in a comment": (
        "edges",
        {},
        rows("# Directed graph: wiki.txt", "# Nodes: 3 Edges: 2", "# FromNodeId\tToNodeId", "30\t1412", "30\t3352"),
        ("1412 30 3352",),
    ),
    "a comment that names columns in another order": (
        "edges",
        {},
        rows("# time\tsource\ttarget", "100\ta\tb", "101\tb\tc"),
        ("a b c",),
    ),
    "names in a comment without a known one": (
        "edges",
        {"source_col": "2:Gene1", "target_col": "3:Gene2"},
        rows("#0:PFC\t1:FBS_max\t2:Gene1\t3:Gene2", "0.9\t3.2\ta\tb", "0.8\t3.1\tb\tc"),
        ("a b c",),
    ),
    "MITAB, whose header is a comment": (
        "edges",
        {},
        rows("#ID(s) interactor A\tID(s) interactor B\tAlt. ID(s)", "u:a\tu:b\t-", "u:b\tu:c\t-"),
        ("u:a u:b u:c",),
    ),
    "Zeek, whose fields are named above their types": (
        "edges",
        {"source_col": "orig", "target_col": "resp"},
        rows("#separator \\x09", "#path\tconn", "#fields\tts\torig\tresp", "#types\ttime\taddr\taddr", "1.5\ta\tb",
             "2.5\tb\tc"),
        ("a b c",),
    ),
    "the same as pairs": (
        "pairs",
        {"rectangular": True},
        rows("# made by hand", "#strain_a,strain_b", "s1,a", "s2,b"),
        ("s1 s2", "a b"),
    ),
    "the same below Excel's sign": ("edges", {}, rows("sep=;", "#strain_a;strain_b", "s1;a", "s2;b"), ("a b s1 s2",)),
    "a remark with as many cells": ("edges", {}, rows("#Hello, world", "a,b", "b,c"), ("a b c",)),
    "a row of hashtags": ("pairs", {"rectangular": True}, rows("#tag,zoe", "a,b", "b,c"), ("#tag a b", "b c zoe")),
    "a remark of as many words": ("edges", {}, rows("#made by me", "a b 2", "b c 3"), ("a b c",)),
    "a row that begins with # as others do": (
        "pairs",
        {},
        rows("", "#cats\t#dogs", "a\tb", "b\t#cats"),
        ("#cats #dogs a b",),
    ),
    "rows that begin with # one after the other": (
        "pairs",
        {},
        rows("", "#cats\tx", "#dogs\ty", "a\tb", "b\ta"),
        ("#cats #dogs a b x y",),
    ),
    "numbers in a comment": ("edges", {}, rows("#3\t2", "a\tb", "b\tc"), ("a b c",)),
    "gephi edges": (
        "edges",
        {},
        rows("Id,Source,Target,Type,Label,Weight", "0,11,12,Directed,,1.0", "1,12,13,Directed,,2.0"),
        ("11 12 13",),
    ),
    "ids in front": ("edges", {}, rows("id,source,target,weight", "1,11,12,.9", "2,12,13,.1"), ("11 12 13",)),
    "OGB edges": ("edges", {}, rows("", "0,4", "4,5", "5,0"), ("0 4 5",)),
    "a weighted edge list": ("edges", {}, rows("", "a b 3", "b c 4.5"), ("a b c",)),
    "STRING, with another number": (
        "edges",
        {},
        rows("protein1 protein2 combined_score", "9606.P1 9606.P2 490", "9606.P1 9606.P3 198"),
        ("9606.P1 9606.P2 9606.P3",),
    ),
    "Neo4j relations": ("edges", {}, rows(":START_ID,weight,:END_ID", "a,2,b", "b,3,c"), ("a b c",)),
    "pandas' index": ("pairs", {"rectangular": True}, rows(",user,item", "0,u1,i1", "1,u2,i2"), ("u1 u2", "i1 i2")),
    "pandas' index before other names": (
        "pairs",
        {},
        rows(",item_a,item_b,count", "0,x,y,2", "1,y,z,1"),
        ("x y z",),
    ),
    "R's names of rows": ("pairs", {"rectangular": True}, rows('"user" "item"', '"1" "u1" "i1"', '"2" "u2" "i2"'),
                          ("u1 u2", "i1 i2")),
    "pairs of words": ("pairs", {}, rows("word1\tword2\tcount", "tea\tmilk\t3", "jam\ttea\t1"), ("jam milk tea",)),
    "citeulike": ("pairs", {"rectangular": True}, rows("user_id\tarticle_id", "u1\ta1", "u2\ta2"), ("u1 u2", "a1 a2")),
    "Steam, without a header": (
        "pairs",
        {"rectangular": True},
        rows("", '151603712,"The Elder Scrolls V Skyrim",purchase,1.0,0', '5250,"Dota 2",play,0.8,0'),
        ("151603712 5250", "Dota_2 The_Elder_Scrolls_V_Skyrim"),
    ),
    "semicolons": ("pairs", {"rectangular": True}, rows("customer;product;qty", "a;x;2", "b;y;1"), ("a b", "x y")),
    "Hive's": ("pairs", {"rectangular": True}, rows("a\1x, it\0012", "b\1y, it\0011"), ("a b", "x,_it y,_it")),
    "a title before the rows": ("pairs", {"rectangular": True}, rows("purchases of May", "user\titem", "a\tx", "b\ty"),
                                ("a b", "x y")),
    "a line with the number of rows": ("edges", {}, rows("3", "a\tb", "b\tc", "c\ta"), ("a b c",)),
    "quotes that are signs": (
        "pairs",
        {"quoting": "none", "rectangular": True},
        rows("user\titem\ttitle", 'a\tx\t"Best of', 'b\ty\t"Twelve inch', "c\tx\tz"),
        ("a b c", "x y"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FIELD)
def test_columns_are_those_that_are_meant(name, tmp_path):
    kind, options, text, expected = FIELD[name]
    path = tmp_path / "table"
    path.write_text(text, encoding="utf-8")
    data = READ[kind](path, **options)
    vocabularies = [data.vocab, data.vocab_out] if len(expected) == 2 else [data.vocab]
    assert tuple(" ".join(sorted(vocab.words)) for vocab in vocabularies) == expected


ASKED = {
    "Yoochoose clicks": ("pairs", {}, rows("", "1,2014-04-07T10:51:09.277Z,214536502,0", "1,2014-04-07T10:54:09Z,2,0")),
    "Gowalla check-ins": ("ratings", {}, rows("", "0\t2010-10-19T23:55:27Z\t30.2\t-97.7\t22847")),
    "two kinds of users": ("ratings", {}, rows("session_id,user_id,item_id", "1,2,3", "1,2,4")),
    "two kinds of items": ("ratings", {}, rows("user_id,artist_id,track_id", "1,2,3", "1,3,4")),
    "times of edges": ("edges", {}, rows("", "9 8 1217567877", "1 1 1217573801", "13 1 1217606247")),
    "a log of ratings": ("pairs", {}, rows("", "196\t242\t3\t881250949", "186\t302\t3\t891717742")),
    "plays for ratings": ("ratings", {"min_rating": 2}, rows("user,item,plays", "a,b,3", "a,c,1")),
    "a rating where users stand": ("ratings", {}, rows("rating,item,person_x", "5,a,b", "4,c,b")),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_may_mean_two_things_is_asked(name, tmp_path):
    kind, options, text = ASKED[name]
    path = tmp_path / "table"
    path.write_text(text)
    with pytest.raises(DoubtError, match=r"The columns are: .*choose with --\w+-col") as caught:
        READ[kind](path, **options)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("kind", "text", "flags"),
    [
        ("ratings", rows("item,when,what", "x,1,a", "y,2,a"), {"user_col": "when", "item_col": "item"}),
        ("ratings", rows("item,when,who", "x,1,a", "y,2,a"), {"user_col": "when", "item_col": "item"}),
    ],
)
def test_what_is_named_in_doubt_can_be_typed(tmp_path, kind, text, flags):
    path = tmp_path / "table.csv"
    path.write_text(text)
    typed = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in flags.items())
    with pytest.raises(DoubtError, match=f"choose with {typed}$"):
        READ[kind](path)


@pytest.mark.parametrize("kind", ["pairs", "ratings"])
def test_playlists_have_tracks(tmp_path, kind):
    path = tmp_path / "table.csv"
    path.write_text(rows("pid,pos,track_uri", "0,0,track:a", "0,1,track:b", "1,0,track:a", "1,1,track:b"))
    columns = READ[kind](path).report.columns
    assert "'pid'" in columns[1] and "'track_uri'" in columns[2] and columns[-1] == "not used: 'pos'"


def test_weights_are_those_that_are_called_so(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("id,source,target,weight\n1,a,b,2\n2,b,c,3\n")
    graph = encode_edges(path)
    assert sorted(graph.matrix.data.tolist()) == [2, 2, 3, 3]
    assert "sources = column 'source'; targets = column 'target'; weight = column 'weight'" in graph.report.line()
    path.write_text("protein1,protein2,combined\na,b,200\nb,c,300\n")
    graph = encode_edges(path)
    assert sorted(graph.matrix.data.tolist()) == [1, 1, 1, 1]
    assert "--weight-col combined would use that column" in graph.report.line()
    path.write_text("user,item,rating:float\na,b,5\n")
    with pytest.raises(InputError, match="a rating is not a weight"):
        encode_pairs(path)


def test_comments_before_the_rows_are_told_and_the_last_may_be_the_header(tmp_path):
    path = tmp_path / "wiki.txt"
    path.write_text("# Directed graph\n# Nodes: 3\n# FromNodeId\tToNodeId\n30\t1412\n30\t3352\n")
    told = encode_edges(path).report.line()
    assert "sources = column 'FromNodeId'; targets = column 'ToNodeId'" in told and "2 comment lines" in told
    path.write_text("purchases of May\nuser\titem\na\tx\nb\ty\n")
    assert "1 line before the rows" in encode_pairs(path, rectangular=True).report.line()


def test_doubtful_weights_are_hinted_at(tmp_path):
    path = tmp_path / "edges"
    path.write_text("a b 1\nb c 2\nc d 1\nd a 500\n")
    (hint,) = encode_edges(path).report.hints
    assert "the largest weight, 500, is 333 times the median" in hint
    assert encode_edges(path, weight_col="3").report.hints == ()
    path.write_text("".join(f"a{n} b{n} {3 + n % 3}\n" for n in range(12)))
    assert "looks like a rating" in encode_pairs(path).report.hints[0]
    (hint,) = encode_ratings(path, rating_col="3", rectangular=True).report.hints
    assert hint.endswith("looks like a rating; if it is a rating, give --min-rating")


def test_an_unused_time_of_histories_is_told(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("user,item,timestamp\nu,a,3\nu,b,2\nu,c,1\n")
    told = encode_ratings(path).report.line()
    assert "histories in file order, --time-col timestamp would order them" in told


def test_bad_rows_are_refused_or_counted_by_reason(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text("customer,product,quantity\na,x,2\na,,1\n")
    with pytest.raises(InputError, match=r":3: the cell in 'product' .*is empty"):
        encode_pairs(path, rectangular=True)
    path.write_text("customer,product,quantity\na,x,2\na,,1\nb,y,-1\nb,y,3,4\nb,x,1\nb,y,2\n")
    with pytest.raises(InputError, match=r":5: 4 fields .*--bad-rows skip"):
        encode_pairs(path, rectangular=True)
    data = encode_pairs(path, rectangular=True, bad_rows="skip")
    assert data.matrix.sum() == 5
    assert {why: n for why, n in data.report.left_out.items() if why.startswith("bad") and n} == {
        "bad rows: wrong number of fields": 1,
        "bad rows: an empty cell in 'product'": 1,
    }
    assert data.report.left_out["returns, of a quantity below 0"] == 1


def test_a_quote_that_swallows_rows_is_told_with_its_line(tmp_path):
    path = tmp_path / "plays.tsv"
    path.write_text('user\titem\ttitle\na\tx\tone\na\ty\t"Best\nb\tx\ttwo\nb\ty\tBest"\nc\ty\tz\n')
    with pytest.raises(InputError, match=r":3: a quote opens a cell .*--quoting none"):
        encode_pairs(path, rectangular=True)
    assert encode_pairs(path, rectangular=True, quoting="none").report.rows == 5
    assert encode_pairs(path, rectangular=True, quoting="csv").report.rows == 3
    with pytest.raises(ConfigError, match="unknown quoting"):
        from w2vneg import Input

        Input("pairs", str(path), quoting="some")


def test_a_header_is_no_header_where_its_words_come_again(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("from\tto\nfrom\tthe\nto\tthe\n")
    assert encode_pairs(path).report.rows == 3


EDGES = [f"x{n // 3} y{n * 7 % 20}" for n in range(60)]


@pytest.mark.parametrize("header", ["u v", "name1 name2", "Person_A Person_B", "author1 author2", "parent child"])
def test_twins_are_a_header_of_edges(tmp_path, header):
    path = tmp_path / "edges.txt"
    path.write_text("\n".join([header, *EDGES]))
    read = encode_edges(path)
    assert read.report.rows == 60 and f"sources = column {header.split()[0]!r}" in read.report.line()


@pytest.mark.parametrize(
    ("first", "others"),
    [
        ("x91 x92", EDGES),
        ("u v", [*EDGES, "a x1"]),
        ("BRCA1 BRCA2", list(map(str.upper, EDGES))),
        ("left right", EDGES),
        ("name1 name2", EDGES[:4]),
    ],
)
def test_twins_like_the_names_below_are_names(tmp_path, first, others):
    path = tmp_path / "edges.txt"
    path.write_text("\n".join([first, *others]))
    assert encode_edges(path).report.rows == 1 + len(others)


def test_a_first_row_that_is_alone_in_both_columns_together_is_hinted_at(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("\n".join(["begin finish", *(f"x{n} x{(n + 9) % 60}" for n in range(60))]))
    (hint,) = encode_edges(path).report.hints
    assert "'begin' and 'finish'" in hint and "--header" in hint


def many(cells, n=30):
    """Return n rows (list of str) of what `cells` gives for the number of each."""
    return [cells(n) for n in range(n)]


# name -> (kind, options, rows, what the message says): each read something else as it stood
DOUBTFUL = {
    "times in column 2": ("ratings", {}, ["1,2014-04-07T10:51:09Z,2145,124,1"], "--user-col 1 --item-col 3"),
    "nothing but times is left": ("ratings", {}, ["185,2005-09-06", "73,2005-01-06"], "--user-col 1 --item-col COLUMN"),
    "places on the map": ("pairs", {}, ["0,2010-10-17T01:48:53Z,39.7,-104.9,88c46"], "--item-col 1 --target-col 5"),
    "a log of a course": (
        "ratings",
        {},
        ["enrollment_id,time,source,event,object", "1,2014-06-14T09:38:29,server,navigate,Oj6"],
        "is called 'time'.* --user-col COLUMN --item-col COLUMN",
    ),
    "clicks": (
        "ratings",
        {},
        ["user_id,session_id,session_size,click_article_id,click_timestamp", "0,1506825423271737,2,157541,1506826828"],
        "--user-col user_id --item-col click_article_id",
    ),
    "a log of a shop": (
        "ratings",
        {},
        ["SHOP_WEEK,SHOP_DATE,QUANTITY,PROD_CODE,BASKET_ID", "200607,20060413,1,PRD0900005,994100100532898"],
        "--user-col BASKET_ID --item-col COLUMN",
    ),
    "a log of a server": (
        "edges", {}, ["ts,client_ip,qname,answer", "1,10.0.0.1,a.org,x"], "--source-col COLUMN --target-col COLUMN"
    ),
    "a category before the event": (
        "pairs",
        {},
        many(lambda n: f"{n % 7},{n % 11},{2520046 + n * 7 % 5},pv,{1511544070 + n}"),
        "column 3.*may hold ids.*if it holds weights, give --weight-col 3.*--weight-col none",
    ),
    "a category above the ratings": (
        "ratings",
        {"min_rating": 4},
        many(lambda n: f"{n % 7},{n % 11},{2520046 + n * 7 % 5},pv,{1511544070 + n}"),
        "column 3.*numbers that do not look like ratings.*--rating-col COLUMN",
    ),
    "a genre before the rating": (
        "ratings",
        {"min_rating": 4},
        many(lambda n: f"{n % 7},{n % 11},{n * 7 % 17},{900 + n},{n % 5 + 1},2003-03-{10 + n % 9}"),
        "column 3.*numbers that do not look like ratings.*--rating-col 5",
    ),
    "seconds from 0 on": ("edges", {}, many(lambda n: f"{n % 7} {n % 11} {37 * n}"), "decrease.*--weight-col none"),
    "times before the nodes": (
        "edges",
        {},
        many(lambda n: f"{31220 + n // 2 * 20} {1400 + n % 7} {1400 + (n + 3) % 7}"),
        "column 1 never decrease.*--source-col 2 --target-col 3",
    ),
    "times called start and end": ("edges", {}, many(lambda n: f"{1400000000 + n},{1400000020 + n},{n % 7}"), "times"),
    "an export of orders": (
        "ratings",
        {},
        ["Name,Email,Total,Lineitem quantity,Lineitem sku,Notes", "#1,a@x.com,9,1,SKU-1,"],
        "'Lineitem sku' is not among.*--user-col COLUMN --item-col 5",
    ),
    "a header that nobody knows": (
        "edges",
        {},
        ["PT,AU,TI,SO,PY", "J,Smith,A title,Nature,2020"],
        "no column names match sources and targets.*--source-col COLUMN --target-col COLUMN",
    ),
    "no column that is called a rating": (
        "ratings",
        {"min_rating": 7},
        ["username,anime_id,my_watched_episodes,my_status", "a,21,586,1"],
        "no column name matches ratings.*--rating-col",
    ),
    "one name in all rows": ("pairs", {}, many(lambda n: f"A{n % 7}\tGO\tx{n}\tGO:{n % 9}"), "column 2.*'GO' in all"),
    "a name and its id": (
        "edges",
        {},
        many(lambda n: f"chem {n % 8},D{n % 8},g{n % 11},x{n}"),
        "name the same things, one to one.*--source-col 1 --target-col 3",
    ),
    "several twins": (
        "edges",
        {},
        ["Interaction ID\tGene A\tGene B\tSymbol A\tSymbol B\tAuthor", "103\t6416\t2318\tMAP2K4\tFLNC\tMarti"],
        "several pairs of columns fit: 'Gene A' and 'Gene B', 'Symbol A' and 'Symbol B'.*--source-col 2 --target-col 3",
    ),
    "an empty column": ("ratings", {}, ["1\t\t5\t\t0.219", "1\t\t7\t\t-9.281"], "column 2.*is empty.*--item-col 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", DOUBTFUL)
def test_what_is_proposed_is_not_what_was_refused(name, tmp_path):
    kind, options, lines, message = DOUBTFUL[name]
    path = tmp_path / "table"
    path.write_text("\n".join(["start,end,n"] * (name == "times called start and end") + lines) + "\n")
    with pytest.raises(DoubtError, match=message):
        READ[kind](path, **options)


# name -> (kind, options, rows, what the report says): ordinary files, of which some look a little like those above
ORDINARY = {
    "callers beside times": (
        "edges",
        {},
        ["caller,callee,start,end", "a,b,2020-01-01 00:00:10,2020-01-01 00:00:40"],
        "sources = column 'caller'; targets = column 'callee'",
    ),
    "times at the end": ("edges", {}, ["x,z,start,end", "a,b,1400000000,1400000020"], "sources = column 'x'"),
    "nodes called start and end": ("edges", {}, ["start,end", "7,9", "9,8"], "sources = column 'start'"),
    "users who are large numbers": (
        "ratings",
        {},
        ["user,item", *many(lambda n: f"{76561197960265728 + n % 4},{n % 9}")],
        "users = column 'user'",
    ),
    "addresses": (
        "edges",
        {},
        ["hash,nonce,transaction_index,from_address,to_address,value", "0x1,2,3,0x4,0x5,6"],
        "sources = column 'from_address'; targets = column 'to_address'",
    ),
    "stations": (
        "edges",
        {},
        ["duration,starttime,start station id,start station name,end station id,end station name", "9,x,1,A,2,B"],
        "sources = column 'start station id'; targets = column 'end station id'",
    ),
    "origin and destination": ("edges", {}, ["year,origin,destination,flow", "1,a,b,2"], "sources = column 'origin'"),
    "pages": (
        "edges",
        {},
        ["SOURCE_PAGE,TARGET_PAGE,POST_ID,MOOD,PROPERTIES", "a,b,x,1,2"],
        "sources = column 'SOURCE_PAGE'",
    ),
    "id spaces": (
        "edges",
        {},
        [":TYPE,:START_ID(Person),:END_ID(Movie)", "KNOWS,p1,m2"],
        r"sources = column ':START_ID\(Person\)'; targets = column ':END_ID\(Movie\)'",
    ),
    "three columns that nobody knows": ("edges", {}, ["left,right,n", "a,b,1", "b,c,2"], "sources = column 'left'"),
    "four of which two are known": (
        "pairs", {}, ["prev,curr,type,n", "a,b,link,12", "b,c,link,11"], "items = column 'prev'; .*weight = column 'n'"
    ),
    "weights with a label": ("edges", {}, many(lambda n: f"a{n % 7} b{n % 11} 0.{n % 9 + 1} x"), "weight = column 3"),
    "counts that rise": ("edges", {}, many(lambda n: f"a{n % 7} b{n} {1 + n // 3}"), "weight = column 3"),
    "a source in all rows": ("edges", {}, many(lambda n: f"hub b{n} {n % 5 + 1}"), "sources = column 1"),
    "a word in all rows": ("pairs", {}, many(lambda n: f"the b{n} {n % 5 + 1} 0.{n % 9}"), "weight = column 3"),
    "users in order, with counts": ("pairs", {}, many(lambda n: f"{100 + n},{n % 9},{n % 8 + 1}"), "weight = column 3"),
    "ratings up to 100": (
        "ratings",
        {"min_rating": 50},
        many(lambda n: f"{n % 7},{n % 11},{n * 7 % 101},{1511544070 + n}"),
        "ratings = column 3",
    ),
    "weights in rising order": ("edges", {}, many(lambda n: f"a{n * 7 % 9} b{n % 8} {4 + 3 * n}"), "weight = column 3"),
    "counts before their times": (
        "edges", {}, many(lambda n: f"{n % 7} {n % 11} {n * 37 % 90 + 1} {1300000000 + n}"), "weight = column 3"
    ),
    "a star, with kinds": ("edges", {}, many(lambda n: f"me\tb{n}\t{n * 7 % 9 + 1}\tphone"), "weight = column 3"),
    "sorted by the first column": (
        "edges", {}, many(lambda n: f"a\tb{n}\t{n * 7 % 9 + 1}\tx"), "sources = column 1; targets = column 2"
    ),
    "a title that is padded": ("edges", {}, ["#My graph,,", "a,b,18", "b,c,2"], "weight = column 3"),
    "a title of as many cells": ("edges", {}, ["#friends,family,others", "a,b,18", "b,c,2"], "weight = column 3"),
    "a shop's own words": ("edges", {}, ["Kunde;Artikel;Menge;Datum", "K3;A7;2;2024-01-05"], "= column 'Kunde'"),
    "two ends and two numbers": ("edges", {}, ["from_city,to_city,km,road", "a,b,2,x"], "sources = column 'from_city'"),
    "stars in another language": (
        "ratings", {"min_rating": 4}, ["Nutzer;Film;Bewertung", "n1;f1;4", "n1;f2;5"], "ratings = column 'Bewertung'"
    ),
    "seconds that were watched": (
        "ratings", {"min_rating": 600}, many(lambda n: f"u{n % 7},f{n % 11},{200 + n * 37 % 900}"), "ratings = column 3"
    ),
    "numbers of rows, and ids": (
        "edges", {}, ["nr;kunde;artikel;menge", *(f"{n};{n % 9};{n % 7};{n % 4}" for n in range(60))], "kunde"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_tables_are_read_without_asking(name, tmp_path):
    kind, options, lines, said = ORDINARY[name]
    path = tmp_path / "table"
    path.write_text("\n".join(lines) + "\n")
    assert re.search(said, READ[kind](path, **options).report.line())


@pytest.mark.parametrize("name", ["Order Quantity", "Lineitem quantity", "qty_ordered", "Quantity Sold"])
def test_returns_are_known_by_any_quantity(tmp_path, name):
    path = tmp_path / "orders.csv"
    path.write_text(f"customer,product,{name}\na,x,2\na,y,-1\nb,y,3\nb,x,1\n")
    assert encode_ratings(path).report.left_out["returns, of a quantity below 0"] == 1
    for column in (name, "3"):
        assert encode_ratings(path, rectangular=True, rating_col=column).matrix.sum() == 6


def test_a_score_of_edges_is_no_matter_of_liking(tmp_path):
    path = tmp_path / "genes.tsv"
    path.write_text("Gene1\tGene2\tAnnotation\tScore\na\tb\tx\t1.00\n")
    with pytest.raises(InputError, match=r"'Score', which may or may not be a weight\. Give --weight-col Score to"):
        encode_edges(path)
