-- The least a queue in PostgreSQL can be: cards in order, one active lease a card, and
-- nothing about either but what any such queue keeps. States of a card: 0 ready, 1 leased;
-- of a lease: 0 active, 1 ended.
-- `width` of the payload is that of the product's cards in the same run.
DROP SCHEMA IF EXISTS floor CASCADE;
CREATE SCHEMA floor;
SET search_path = floor;
CREATE SEQUENCE tail START 1000000000;
CREATE TABLE card (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue integer NOT NULL,
    place double precision NOT NULL,
    state smallint NOT NULL DEFAULT 0,
    due_at timestamptz NOT NULL DEFAULT '2000-01-01',
    attempts smallint NOT NULL DEFAULT 0,
    version integer NOT NULL DEFAULT 1,
    lease_expires_at timestamptz,
    changed_at timestamptz NOT NULL DEFAULT now(),
    title text NOT NULL,
    payload jsonb NOT NULL
);
CREATE INDEX card_next ON card (queue, place, id) WHERE state = 0;
CREATE TABLE lease (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    card_id bigint NOT NULL,
    queue integer NOT NULL,
    token uuid NOT NULL DEFAULT gen_random_uuid(),
    state smallint NOT NULL DEFAULT 0,
    attempt smallint NOT NULL,
    acquired_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    ended_at timestamptz
);
CREATE UNIQUE INDEX lease_one_active ON lease (card_id) WHERE state = 0;
CREATE INDEX lease_lapse ON lease (queue, expires_at) WHERE state = 0;
