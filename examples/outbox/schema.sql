-- An order, and the event that reports it: both are written in one transaction.
CREATE TABLE orders (
	tenant text NOT NULL,
	id     text NOT NULL,
	PRIMARY KEY (tenant, id)
);

CREATE TABLE outbox (
	id         uuid PRIMARY KEY DEFAULT gen_random_uuid(), -- the idempotency key: never the same again, also after a restore
	tenant     text NOT NULL,
	event_type text NOT NULL,
	payload    json NOT NULL, -- json keeps the text as it is, jsonb does not
	due_at     timestamptz NOT NULL DEFAULT now(),
	problem    text -- why the last post failed
);
CREATE INDEX ON outbox (due_at);
