-- Claim and complete, each one statement and one transaction. The card goes to the end
-- of its queue, so that the depth stays the same.
WITH next AS MATERIALIZED (
    SELECT id FROM card WHERE queue = 1 AND state = 0
    ORDER BY place, id LIMIT 1 FOR UPDATE SKIP LOCKED
), taken AS (
    UPDATE card SET state = 1, attempts = attempts + 1, version = version + 1,
        lease_expires_at = now() + interval '300 s', changed_at = now()
    FROM next WHERE card.id = next.id
    RETURNING card.id, card.attempts, card.title, card.payload
), made AS (
    INSERT INTO lease (card_id, queue, attempt, expires_at)
    SELECT id, 1, attempts, now() + interval '300 s' FROM taken
    RETURNING id, token, card_id
)
SELECT made.id AS lease, made.token, taken.id AS card, taken.title, taken.payload
FROM made JOIN taken ON taken.id = made.card_id
\gset
WITH done AS (
    UPDATE lease SET state = 1, ended_at = now()
    WHERE id = :lease AND token = :token::uuid AND state = 0
    RETURNING card_id
)
UPDATE card SET state = 0, place = nextval('tail'), version = version + 1,
    lease_expires_at = NULL, changed_at = now()
FROM done WHERE card.id = done.card_id AND card.state = 1;
