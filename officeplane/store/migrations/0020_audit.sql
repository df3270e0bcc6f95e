-- Audit: who has changed what, from where. It is added to, and what is in it stays as it is.

CREATE TABLE audit (
    seq          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    space        text NOT NULL,
    caller       text NOT NULL,
    kind         text NOT NULL,
    on_behalf_of text,
    key_id       uuid,
    address      text,
    action       text NOT NULL,
    -- What it was done to: tasks, or something else, or tasks of something else.
    target       text,
    task_ids     uuid[],
    before       jsonb,
    after        jsonb,

    CONSTRAINT audit_is_about_something CHECK (target IS NOT NULL OR cardinality(task_ids) > 0),
    CONSTRAINT audit_says_little CHECK (octet_length(before::text) <= 65536 AND octet_length(after::text) <= 65536)
);
CREATE INDEX audit_of_space ON audit (space, at, seq);
CREATE INDEX audit_of_caller ON audit (space, caller, at, seq);
-- Nearly everything is a submission: these are found by their space as well, and cost no index more.
CREATE INDEX audit_of_action ON audit (space, action, at, seq) WHERE action <> 'task.submit';
CREATE INDEX audit_of_target ON audit (space, target, at, seq) WHERE target IS NOT NULL;
-- Whatever stores tasks is found by the time that is in their ids: an index of these would cost each task as much as one
-- of its own.
CREATE INDEX audit_of_tasks ON audit USING gin (task_ids) WITH (gin_pending_list_limit = 256)
    WHERE action NOT IN ('task.submit', 'dag.submit', 'dag.add');

-- Nothing is taken out but by the pruner's function, and by that only what is older than the cutoff it has set.
CREATE FUNCTION refuse_to_rewrite_audit() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < nullif(current_setting('officeplane.audit_before', true), '')::timestamptz THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit is only added to' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER audit_stays BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION refuse_to_rewrite_audit();
CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_rewrite_audit();

-- It runs as its owner, for the app may not delete: so it looks for nothing in the schemas of whoever calls it, and
-- leaves the last day as it is, whatever it is asked for.
DO $outer$
BEGIN
    EXECUTE format($create$
        CREATE FUNCTION prune_audit(older_than_seconds double precision, rows_max integer) RETURNS bigint
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, %I, pg_temp AS $$
        DECLARE
            cutoff timestamptz := clock_timestamp() - make_interval(secs => greatest(older_than_seconds, 86400));
            gone bigint;
        BEGIN
            PERFORM set_config('officeplane.audit_before', cutoff::text, true);
            DELETE FROM audit
             WHERE seq IN (SELECT oldest.seq FROM (SELECT a.seq, a.at FROM audit a ORDER BY a.seq LIMIT rows_max) oldest
                            WHERE oldest.at < cutoff);
            GET DIAGNOSTICS gone = ROW_COUNT;
            PERFORM set_config('officeplane.audit_before', '', true);
            RETURN gone;
        END $$
    $create$, current_schema());
END $outer$;
REVOKE ALL ON FUNCTION prune_audit(double precision, integer) FROM PUBLIC;
