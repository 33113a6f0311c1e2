"""Tiny made-up files of the names and columns that README and docs use, so that their commands run as they stand.

A file of a named set's name stands in for the set: a path that exists comes before a name.
"""

import gzip
import lzma

import numpy as np
import scipy.sparse

USERS = range(180, 220)
ITEMS = [*map(str, range(60)), "181", "85123A"]  # those that the documents ask about are among them


def ratings(rng, between, n_items=25):
    """Return rows of user, item, rating and time."""
    return "".join(
        between.join((str(user), item, str(rng.integers(3, 6)), str(rng.integers(10**6)))) + "\n"
        for user in USERS
        for item in rng.permutation(ITEMS)[:n_items]
    )


def invoices(rng):
    """Return the rows of Online Retail: dates, quoted descriptions, rows without a customer."""
    rows = ["InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country\n"]
    for number in range(400):
        item, day, hour = rng.choice(ITEMS), 1 + number // 20, number % 20
        customer = "" if number % 7 == 0 else 12000 + number % 15
        when = f"2011-03-{day:02d} {hour:02d}:26:00"
        rows.append(f'{536000 + number},{item},"THING, NO. {item}",6,{when},2.55,{customer},France\n')
    return "".join(rows)


def baskets(rng, between=" ", n_items=8):
    """Return baskets, one a line."""
    return "".join(between.join(rng.permutation(ITEMS)[:n_items]) + "\n" for _ in range(100))


def pairs(rng, header, between, n=400):
    """Return rows of two different items and a weight under a header."""
    rows = (between.join((*rng.choice(ITEMS, 2, replace=False), str(rng.integers(1, 9)))) for _ in range(n))
    return "\n".join((between.join(header), *rows)) + "\n"


def titles(between):
    """Return rows of item, title and something else."""
    return "".join(f"{between.join((item, f'Amélie {item} (2001)', 'x'))}\n" for item in ITEMS)


def orders(rng):
    """A purchase log of some customers and products, a return among its rows."""
    products = ["85123A", "22423", *(f"p{k}" for k in range(18))]
    lines = ["order,product,quantity,customer", "1,85123A,-1,17850"]
    for order in range(2, 80):
        customer = 17850 + order % 20
        lines += [f"{order},{product},2,{customer}" for product in rng.permutation(products)[:5]]
    return "\n".join(lines) + "\n"


def write_item_files(folder):
    """Write all of them into `folder` (Path)."""
    rng = np.random.default_rng(2)
    for name in ("ml-100k", "u.data"):
        (folder / name).write_text(ratings(rng, "\t"))
    for name in ("ml-100k-titles", "u.item"):
        (folder / name).write_text(titles("|"), encoding="latin-1")
    (folder / "ml-1m-titles").write_text(titles("::"), encoding="latin-1")
    for name in ("belgian-retail", "retail.dat"):
        (folder / name).write_text(baskets(rng))
    (folder / "retail.dat.xz").write_bytes(lzma.compress(baskets(rng).encode()))
    (folder / "groceries.csv").write_text(baskets(rng, ",").replace("181", "whole milk"))
    (folder / "online_retail.csv.xz").write_bytes(lzma.compress(invoices(rng).encode()))
    (folder / "orders.csv").write_text(orders(rng))
    (folder / "bought-together.csv").write_text(pairs(rng, ("product", "with", "times"), ","))
    plays = pairs(rng, ("song", "next_song", "plays"), "\t")
    (folder / "plays.tsv.gz").write_bytes(gzip.compress(plays.encode()))
    seen = "user,movie\n" + "".join(f"{u},{i}\n" for u in USERS for i in rng.permutation(ITEMS)[:9])
    (folder / "user_movie_pairs.csv.xz").write_bytes(lzma.compress(seen.encode()))
    counts = rng.integers(0, 5, (len(ITEMS), len(ITEMS)))
    scipy.sparse.save_npz(folder / "counts.npz", scipy.sparse.csr_matrix(counts))
    (folder / "products.txt").write_text("\n".join(ITEMS) + "\n")


def write_movielens_folders(folder):
    """Write ratings where MovieLens' own archives have them: in folders, one of which is called as the named set is."""
    rng = np.random.default_rng(3)
    (folder / "ml-100k").unlink()
    for name in ("ml-100k", "ml-1m"):
        (folder / name).mkdir()
    (folder / "ml-100k" / "u.data.xz").write_bytes(lzma.compress(ratings(rng, "\t").encode()))
    (folder / "ml-1m" / "ratings.dat").write_text(ratings(rng, "::"))
