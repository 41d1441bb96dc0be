SELECT
  A.id, A."itemName", A.description, A."initialBid", A.reserve, A."dateTime", A.expires, A.seller, A.category, A.extra,
  B.auction, B.bidder, B.price, B."dateTime" AS "bid_dateTime", B.extra AS bid_extra
FROM auction AS A JOIN bid AS B ON A.id = B.auction AND B."dateTime" BETWEEN A."dateTime" AND A.expires
QUALIFY ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, B."dateTime") <= 1
