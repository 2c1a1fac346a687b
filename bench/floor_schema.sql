-- The least a queue in PostgreSQL can be: cards in order, one active lease a card.
-- `width` of the payload is that of the product's cards in the same run.
DROP SCHEMA IF EXISTS floor CASCADE;
CREATE SCHEMA floor;
SET search_path = floor;
CREATE SEQUENCE tail START 1000000000;
CREATE TABLE card (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue integer NOT NULL,
    place bigint NOT NULL,
    held boolean NOT NULL DEFAULT false,
    attempts integer NOT NULL DEFAULT 0,
    title text NOT NULL,
    payload jsonb NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX card_next ON card (queue, place, id) WHERE NOT held;
CREATE TABLE lease (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    card_id bigint NOT NULL,
    queue integer NOT NULL,
    token uuid NOT NULL DEFAULT gen_random_uuid(),
    attempt integer NOT NULL,
    acquired_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    ended_at timestamptz
);
CREATE UNIQUE INDEX lease_one_active ON lease (card_id) WHERE ended_at IS NULL;
CREATE INDEX lease_lapse ON lease (queue, expires_at) WHERE ended_at IS NULL;
