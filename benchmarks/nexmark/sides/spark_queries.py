"""The queries in the best form that plain Spark can express, and why the others cannot be.

Queries whose result changes run in the mode *update*: a batch has the new rows of each key that changed, and they
replace those of the batches before. INNER JOINs without a bound on time keep both sides for ever, here as in Flink.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import functions as F  # noqa: N812

from benchmarks.nexmark.sides.spark_events import SparkEvents

__all__ = ["NOT_EXPRESSIBLE", "SPARK_QUERIES", "SparkQuery"]

NOT_EXPRESSIBLE: Final = {
    "q4": "an aggregate of an aggregate whose rows change: a change would count as one more row, so Spark refuses it",
}
_BID: Final = ("auction", "bidder", "price", "channel", "url", "dateTime", "extra")
_AUCTION: Final = (
    "id", "itemName", "description", "initialBid", "reserve", "dateTime", "expires", "seller", "category", "extra",
)  # fmt: skip
_TEN: Final = "10 seconds"
_RANKS: Final = {"rank1": "price < 10000", "rank2": "price >= 10000 AND price < 1000000", "rank3": "price >= 1000000"}
_DAY: Final = "date_format(dateTime, 'yyyy-MM-dd')"


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkQuery:
    """A query.

    Attributes:
        result: of the events.
        keys: columns of the rows that a later batch replaces, in the mode *update*; none = the mode is *append*.
        partitions: of files that the result is written into; none = it is written into a sink that does nothing.
    """

    result: Callable[[SparkEvents], Any]
    keys: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()

    @property
    def mode(self) -> str:
        """The output mode."""
        return "update" if self.keys else "append"


def _q0(events: SparkEvents) -> Any:
    return events.rows("bid", "auction", "bidder", "price", "dateTime", "extra")


def _q1(events: SparkEvents) -> Any:
    bids = events.rows("bid", "auction", "bidder", "price", "dateTime", "extra")
    return bids.selectExpr("auction", "bidder", "0.908 * price AS price", "dateTime", "extra")


def _q2(events: SparkEvents) -> Any:
    return events.rows("bid", "auction", "price").where("auction % 123 = 0")


def _q3(events: SparkEvents) -> Any:
    auctions = events.rows("auction", "id", "seller", "category").where("category = 10")
    persons = events.rows("person", "id", "name", "city", "state").where("state IN ('OR', 'ID', 'CA')")
    joined = auctions.alias("A").join(persons.alias("P"), F.expr("A.seller = P.id"))
    return joined.selectExpr("P.name", "P.city", "P.state", "A.id")


def _q5(events: SparkEvents) -> Any:
    windows = F.window("dateTime", _TEN, "2 seconds")
    counts = events.timed("bid", "auction", "dateTime").groupBy(windows, "auction").agg(F.count("*").alias("num"))
    hot = counts.groupBy("window").agg(
        F.max("num").alias("maxn"), F.collect_list(F.struct("auction", "num")).alias("counts")
    )
    return hot.selectExpr("inline(filter(counts, each -> each.num >= maxn))")


def _q7(events: SparkEvents) -> Any:
    highest = (
        events.timed("bid", "price", "dateTime")
        .groupBy(F.window("dateTime", _TEN))
        .agg(F.max("price").alias("maxprice"))
        .select("maxprice", F.window_time("window").alias("last"))
    )
    bids = events.timed("bid", "auction", "bidder", "price", "dateTime", "extra").alias("B")
    end = "last + INTERVAL 1 MICROSECOND"
    joined = bids.join(
        highest, F.expr(f"price = maxprice AND dateTime >= {end} - INTERVAL 10 SECONDS AND dateTime <= {end}")
    )
    return joined.select("auction", "price", "bidder", "dateTime", "extra")


def _q8(events: SparkEvents) -> Any:
    windows = F.window("dateTime", _TEN)
    persons = events.timed("person", "id", "name", "dateTime").groupBy(windows, "id", "name").agg(F.count("*"))
    sellers = events.timed("auction", "seller", "dateTime").groupBy(windows, "seller").agg(F.count("*"))
    joined = persons.alias("P").join(sellers.alias("A"), F.expr("P.id = A.seller AND P.window = A.window"))
    return joined.selectExpr("P.id", "P.name", "P.window.start AS stime")


def _q9(events: SparkEvents) -> Any:
    auctions, bids = events.timed("auction", *_AUCTION), events.timed("bid", *_BID)
    joined = auctions.alias("A").join(
        bids.alias("B"), F.expr("A.id = B.auction AND B.dateTime BETWEEN A.dateTime AND A.expires")
    )
    bid = F.struct("B.auction", "B.bidder", "B.price", F.col("B.dateTime").alias("bid_dateTime"), "B.extra")
    order = F.expr("struct(B.price, -unix_millis(B.bid_dateTime))")
    pairs = joined.select(F.struct("A.*").alias("A"), bid.alias("B"))
    best = pairs.groupBy(F.col("A.id").alias("of")).agg(F.any_value("A").alias("A"), F.max_by("B", order).alias("B"))
    return best.select("A.*", "B.auction", "B.bidder", "B.price", "B.bid_dateTime", F.col("B.extra").alias("bid_extra"))


def _q10(events: SparkEvents) -> Any:
    return _q0(events).selectExpr("*", f"{_DAY} AS dt", "date_format(dateTime, 'HH:mm') AS hm")


def _q11(events: SparkEvents) -> Any:
    sessions = events.timed("bid", "bidder", "dateTime").groupBy(F.session_window("dateTime", _TEN), "bidder")
    counts = sessions.agg(F.count("*").alias("bid_count"))
    return counts.selectExpr(
        "bidder", "bid_count", "session_window.start AS starttime", "session_window.end AS endtime"
    )


def _q12(events: SparkEvents) -> Any:
    bids = events.rows("bid", "bidder").withColumn("p_time", F.current_timestamp()).withWatermark("p_time", "0 seconds")
    counts = bids.groupBy(F.window("p_time", _TEN), "bidder").agg(F.count("*").alias("bid_count"))
    return counts.selectExpr("bidder", "bid_count", "window.start AS starttime", "window.end AS endtime")


def _q13(events: SparkEvents) -> Any:
    bids = events.rows("bid", "auction", "bidder", "price", "dateTime")
    joined = bids.join(F.broadcast(events.side_input), F.expr("auction % 10000 = key"))
    return joined.select("auction", "bidder", "price", "dateTime", "value")


def _q14(events: SparkEvents) -> Any:
    bids = _q0(events).where("0.908 * price > 1000000 AND 0.908 * price < 50000000")
    return bids.selectExpr(
        "auction", "bidder", "0.908 * price AS price",
        "CASE WHEN hour(dateTime) >= 8 AND hour(dateTime) <= 18 THEN 'dayTime' "
        "WHEN hour(dateTime) <= 6 OR hour(dateTime) >= 20 THEN 'nightTime' ELSE 'otherTime' END AS bidTimeType",
        "dateTime", "extra", "CAST(length(extra) - length(replace(extra, 'c', '')) AS BIGINT) AS c_counts",
    )  # fmt: skip


def _statistics() -> list[Any]:
    counted = [F.expr("count(*)").alias("total_bids")]
    counted += [F.expr(f"count(*) FILTER (WHERE {rank})").alias(f"{name}_bids") for name, rank in _RANKS.items()]
    for column in ("bidder", "auction"):
        counted.append(F.expr(f"CAST(size(collect_set({column})) AS BIGINT)").alias(f"total_{column}s"))
        counted += [
            F.expr(f"CAST(size(collect_set({column}) FILTER (WHERE {rank})) AS BIGINT)").alias(f"{name}_{column}s")
            for name, rank in _RANKS.items()
        ]
    return counted


def _q15(events: SparkEvents) -> Any:
    bids = events.rows("bid", "auction", "bidder", "price", "dateTime")
    return bids.groupBy(F.expr(_DAY).alias("day")).agg(*_statistics())


def _q16(events: SparkEvents) -> Any:
    bids = events.rows("bid", "auction", "bidder", "price", "channel", "dateTime")
    minute = F.expr("max(date_format(dateTime, 'HH:mm'))").alias("minute")
    return bids.groupBy("channel", F.expr(_DAY).alias("day")).agg(minute, *_statistics())


def _q17(events: SparkEvents) -> Any:
    bids = events.rows("bid", "auction", "price", "dateTime")
    counted = _statistics()[:4]
    prices = ("min(price)", "max(price)", "sum(price) div count(price)", "sum(price)")
    return bids.groupBy("auction", F.expr(_DAY).alias("day")).agg(*counted, *map(F.expr, prices))


def _q18(events: SparkEvents) -> Any:
    newest = events.rows("bid", *_BID).groupBy("bidder", "auction")
    last = newest.agg(F.max_by(F.struct("price", "channel", "url", "dateTime", "extra"), "dateTime").alias("last"))
    return last.select("auction", "bidder", "last.*")


def _q19(events: SparkEvents) -> Any:
    row = "struct(auction, bidder, price, channel, url, dateTime, extra)"
    top = events.rows("bid", *_BID).groupBy("auction").agg(F.expr(f"max_by({row}, price, 10)").alias("top"))
    return top.selectExpr("posexplode(top) AS (at, bid)").selectExpr("bid.*", "CAST(at + 1 AS BIGINT) AS rank_number")


def _q20(events: SparkEvents) -> Any:
    auctions = events.rows("auction", *_AUCTION).where("category = 10").alias("A")
    joined = events.rows("bid", *_BID).alias("B").join(auctions, F.expr("B.auction = A.id"))
    return joined.selectExpr(
        "auction", "bidder", "price", "channel", "url", "B.dateTime AS bid_dateTime", "B.extra AS bid_extra",
        "itemName", "description", "initialBid", "reserve", "A.dateTime AS auction_dateTime", "expires", "seller",
        "category", "A.extra AS auction_extra",
    )  # fmt: skip


def _q21(events: SparkEvents) -> Any:
    known = "lower(channel) IN ('apple', 'google', 'facebook', 'baidu')"
    channel = "nullif(regexp_extract(url, '(&|^)channel_id=([^&]*)', 2), '')"
    bids = events.rows("bid", "auction", "bidder", "price", "channel", "url").where(f"{channel} IS NOT NULL OR {known}")
    return bids.selectExpr(
        "auction", "bidder", "price", "channel",
        "CASE WHEN lower(channel) = 'apple' THEN '0' WHEN lower(channel) = 'google' THEN '1' "
        f"WHEN lower(channel) = 'facebook' THEN '2' WHEN lower(channel) = 'baidu' THEN '3' ELSE {channel} END AS id",
    )  # fmt: skip


def _q22(events: SparkEvents) -> Any:
    bids = events.rows("bid", "auction", "bidder", "price", "channel", "url")
    directories = [f"split_part(url, '/', {number}) AS dir{number - 3}" for number in (4, 5, 6)]
    return bids.selectExpr("auction", "bidder", "price", "channel", *directories)


SPARK_QUERIES: Final = {
    "q0": SparkQuery(result=_q0),
    "q1": SparkQuery(result=_q1),
    "q2": SparkQuery(result=_q2),
    "q3": SparkQuery(result=_q3),
    "q5": SparkQuery(result=_q5),
    "q7": SparkQuery(result=_q7),
    "q8": SparkQuery(result=_q8),
    "q9": SparkQuery(result=_q9, keys=("id",)),
    "q10": SparkQuery(result=_q10, partitions=("dt", "hm")),
    "q11": SparkQuery(result=_q11),
    "q12": SparkQuery(result=_q12),
    "q13": SparkQuery(result=_q13),
    "q14": SparkQuery(result=_q14),
    "q15": SparkQuery(result=_q15, keys=("day",)),
    "q16": SparkQuery(result=_q16, keys=("channel", "day")),
    "q17": SparkQuery(result=_q17, keys=("auction", "day")),
    "q18": SparkQuery(result=_q18, keys=("auction", "bidder")),
    "q19": SparkQuery(result=_q19, keys=("auction",)),
    "q20": SparkQuery(result=_q20),
    "q21": SparkQuery(result=_q21),
    "q22": SparkQuery(result=_q22),
}
