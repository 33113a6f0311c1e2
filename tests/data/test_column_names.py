"""What columns are meant by their names."""

import pytest

from w2vneg.data.readers.column_names import (
    columns_meant,
    last_part_means,
    meant_by,
    numbers_rows,
    sound_like_columns,
    twins,
)

MEANT = {
    "user": "userId user_id USER-ID CustomerID visitorid reviewerID uid u user_id:token SessionId memberNo playlist_id "
    "username",
    "item": "movieId article_id asin ISBN StockCode product_id:token artist-name sku i business_id pid track_uri "
    "Lineitem_sku",
    "source": "source Source FromNodeId node1 src :START_ID parent_id srcip :START_ID(Person) p:START_ID(P)",
    "target": "Target ToNodeId node2 dst to :END_ID child dstip to_address :END_ID(Movie)",
    "weight": "weight Count n QTY quantity plays play_count weight:float",
    "rating": "rating:float Book-Rating stars overall user_rating Score my_score",
    "time": "timestamp unixReviewTime t_dat InvoiceDate ts time datetime timestamp:float",
    None: "id title genres price parent_asin is_read event hours tagID item_a word1 description",
}


@pytest.mark.parametrize(("name", "meaning"), [(name, meaning) for meaning in MEANT for name in MEANT[meaning].split()])
def test_names_of_the_field(name, meaning):
    assert meant_by(name) == meaning


def test_the_clearest_of_several_names_is_meant():
    assert columns_meant(["order_id", "customer_id", "artist_id", "artist_name"]) == {"user": [1], "item": [2]}
    assert columns_meant(["unixReviewTime", "reviewTime"]) == {"time": [0]}
    assert columns_meant(["session_id", "user_id", "movie_id"]) == {"user": [0, 1], "item": [2]}  # both
    assert columns_meant(["pid", "track_uri", "track_name"]) == {"user": [0], "item": [1]}
    assert columns_meant(["subject", "object"]) == {"source": [0], "target": [1]}
    assert columns_meant(["time", "source", "object"]) == {"time": [0], "source": [1]}
    assert columns_meant(["From", "To", "Subject"]) == {"source": [0], "target": [1]}
    assert columns_meant(["origin", "year"]) == {} and len(columns_meant(["origin", "destination"])) == 2


def test_the_last_part_of_a_name_is_enough_for_a_proposal():
    assert [last_part_means(name) for name in ("click_article_id", "SHOP_DATE", "item", "user_x")] == [
        "item",
        "time",
        None,
        None,
    ]


def test_twins_differ_in_their_last_sign():
    for head in (["item_a", "item_b"], ["word1", "word2"], ["u", "v"], ["ProductID_A", "ProductID_B"]):
        assert twins(["n", *head]) == [(1, 2)]
    assert twins(["u", "i"]) == []
    assert twins(["a1", "a2", "b1", "b2"]) == [(0, 1), (2, 3)]
    assert twins(["SOURCE_PAGE", "post", "TARGET_PAGE"]) == [(0, 2)] and twins(["a_x", "b_x"]) == []


def test_columns_that_number_rows():
    assert [numbers_rows(name) for name in ("", "Unnamed: 0", "index", "id", "user", "title")] == [True] * 4 + [
        False
    ] * 2


def test_looking_for_names_takes_no_time_that_grows_with_the_square():
    """Minutes, where each part of a name began to look for its end anew."""
    assert not sound_like_columns(["text_" * 50_000 + "!", "b", "c"])
    assert sound_like_columns(["tweet_text_of_the_day", "user_id_of_it"])
