-- The resource that the lock of nightly.cc protects: `fence` is the greatest token that wrote to a row.
CREATE TABLE accounts (
  id STRING(MAX) NOT NULL,
  balance INT64,
  fence INT64,
) PRIMARY KEY (id);
