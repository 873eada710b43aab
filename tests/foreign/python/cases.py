"""Plays the cases of ../cases.json with Python's official client and its defaults, and prints an outcome for
each, so that two servers can be compared.
Usage: SPANNER_EMULATOR_HOST=... cases.py CASES.JSON DATABASE [CASE]"""

import datetime
import json
import os
import sys
import threading
import time

import grpc
from google.api_core.exceptions import Aborted, AlreadyExists, GoogleAPICallError, RetryError
from google.cloud import spanner
from google.cloud.spanner_v1 import ExecuteSqlRequest, Type, TypeCode, param_types

DEADLINE = 20  # seconds, of a step


class RolledBack(Exception):
    """Ends a transaction without a commit."""


class AbortedByHand(grpc.RpcError):
    """What Spanner says of an attempt that it has aborted."""

    def trailing_metadata(self):
        return ()


def type_of(name):
    if name.startswith("ARRAY<"):
        return param_types.Array(type_of(name[6:-1]))
    return Type(code=TypeCode[name])


def name_of(kind):
    of = " of " + TypeCode(kind.array_element_type.code).name if kind.code == TypeCode.ARRAY else ""
    return TypeCode(kind.code).name + of


def outcome(do, *arguments):
    """What `do` says, or the code of the error that it raises."""
    try:
        return do(*arguments)
    except RetryError as error:
        return f"RetryError of {type(error.cause).__name__}"
    except GoogleAPICallError as error:
        code = error.grpc_status_code.name if error.grpc_status_code else type(error).__name__
        return f"{code} {error}" if os.environ.get("VERBOSE") else code
    except RolledBack:
        return "rolled back"
    except ValueError as error:
        return f"ValueError: {error}"


def rows_of(result):
    parts = []
    rows = list(result)
    for row in rows[:20]:
        columns = zip(result.fields, row)
        parts.append("(" + "; ".join(f"{f.name} {name_of(f.type_)} {v!r}" for f, v in columns) + ")")
    return f"{len(rows)} rows" + "".join(parts)


def keys_of(step):
    if "range" in step:
        start, end, kind = step["range"]
        names = [f"{edge}_{kind}" for edge in ("start", "end")]
        edges = dict(zip(names, ([start[1]], [end[1]])))
        return spanner.KeySet(ranges=[spanner.KeyRange(**edges)])
    if "keys" in step:
        return spanner.KeySet(keys=[[part[1] for part in key] for key in step["keys"]])
    return spanner.KeySet(all_=True)


def parameters(step):
    given = step.get("params")
    if not given:
        return {}
    return {"params": {name: pair[1] for name, pair in given.items()},
            "param_types": {name: type_of(pair[0]) for name, pair in given.items()}}


def mutate(batch, mutations):
    for kind, table, columns, values in mutations:
        raw = [pair[1] for pair in values]
        if kind == "delete":
            batch.delete(table, spanner.KeySet(keys=[raw]))
        else:
            getattr(batch, kind)(table, columns, [raw])


def ask(step, reader):
    if "query" in step:
        return rows_of(reader.execute_sql(step["query"], timeout=DEADLINE, **parameters(step)))
    return rows_of(reader.read(step["read"], step["columns"], keys_of(step), limit=step.get("limit", 0)))


def within(step, transaction):
    if "dml" in step:
        return f"{transaction.execute_update(step['dml'], **parameters(step))} changed"
    if "returning" in step:
        return rows_of(transaction.execute_sql(step["returning"], **parameters(step)))
    if "batch" in step:
        status, counts = transaction.batch_update(step["batch"])
        return f"{status.code} {counts}"
    if "buffer" in step:
        mutate(transaction, step["buffer"])
        return "buffered"
    return ask(step, transaction)


def bound(step):
    now = datetime.datetime.now(datetime.timezone.utc)
    match step.get("bound"):
        case "exact":
            time.sleep(0.05)
            return {"exact_staleness": datetime.timedelta(milliseconds=10)}
        case "max":
            return {"max_staleness": datetime.timedelta(seconds=10)}
        case "min":
            return {"min_read_timestamp": now - datetime.timedelta(seconds=1)}
        case "read_now":
            return {"read_timestamp": now}
        case "too_old":
            return {"exact_staleness": datetime.timedelta(hours=3)}
    return {}


class Player:
    def __init__(self, database):
        self.database = database

    def reset(self, rows):
        def fill(transaction):
            for table in ("locks", "kinds"):
                transaction.delete(table, spanner.KeySet(all_=True))
            mutate(transaction, [["insert", *row] for row in rows])

        self.database.run_in_transaction(fill, timeout_secs=1)

    def transaction(self, step, steps):
        if step.get("ignore_errors"):
            return "not played: after a first statement that failed, this client waits for ever"
        parts, attempts = [], 0

        def work(transaction):
            nonlocal attempts
            attempts += 1
            parts.clear()
            if attempts <= step.get("aborts", 0):
                transaction.execute_update("DELETE FROM locks WHERE name = 'nobody'")
                raise Aborted("aborted by hand", errors=[AbortedByHand()])
            for one in steps:
                try:
                    parts.append(within(one, transaction))
                except Aborted:
                    raise
                except GoogleAPICallError as error:
                    parts.append(error.grpc_status_code.name)
                    if not step.get("ignore_errors"):
                        raise
            if step.get("end") == "rollback":
                transaction.rollback()
                raise RolledBack

        def run():
            self.database.run_in_transaction(work, timeout_secs=DEADLINE)
            return "committed"

        end = outcome(run)
        if "aborts" in step:
            parts.append(f"{attempts} attempts")
        return "{" + ", ".join(parts) + "} " + end

    def snapshot(self, steps):
        parts = []
        with self.database.snapshot(multi_use=True) as snapshot:
            for one in steps:
                if "outside" in one:
                    parts.append(self.play(one["outside"]))
                else:
                    parts.append(outcome(ask, one, snapshot))
        return "{" + ", ".join(parts) + "}"

    def apply(self, mutations):
        with self.database.batch() as batch:
            mutate(batch, mutations)
        return "applied"

    def batch_write(self, groups):
        parts = []
        with self.database.mutation_groups() as all_groups:
            for group in groups:
                mutate(all_groups.group(), group)
            for response in all_groups.batch_write():
                parts += [f"{index} {response.status.code}" for index in response.indexes]
        return ", ".join(sorted(parts))

    def analyze(self, sql, mode):
        def run(reader):
            result = reader.execute_sql(sql, query_mode=mode)
            text = rows_of(result)
            return f"{text} plan: {bool(result.metadata)} statistics: {bool(result.stats)}"

        if sql.startswith("SELECT"):
            with self.database.snapshot() as snapshot:
                return outcome(run, snapshot)
        return outcome(lambda: self.database.run_in_transaction(run, timeout_secs=DEADLINE))

    def together(self, times, do):
        failures = []

        def run():
            said = outcome(do)
            if said is not None:
                failures.append(said)

        threads = [threading.Thread(target=run) for _ in range(times)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return " ".join([f"{times} done", *failures])

    def increment(self, transaction):
        value = list(transaction.read("kinds", ["i"], spanner.KeySet(keys=[[1]])))[0][0]
        transaction.update("kinds", ["id", "i"], [[1, value + 1]])

    def many(self, count):
        with self.database.batch() as batch:
            batch.insert("kinds", ["id", "s"], [[100 + i, "s" * 1000] for i in range(count)])
        with self.database.snapshot() as snapshot:
            return rows_of(snapshot.execute_sql("SELECT id, s FROM kinds WHERE id >= 100 ORDER BY id")).split("(")[0]

    def ddl_of(self, table):
        self.database.reload()
        for statement in self.database.ddl_statements:
            if statement.startswith(f"CREATE TABLE {table} "):
                return " ".join(statement.split())
        return "no such table"

    def do(self, step):
        if "snapshot" in step:
            return self.snapshot(step["snapshot"])
        if "apply" in step:
            return self.apply(step["apply"])
        if "batch_write" in step:
            return self.batch_write(step["batch_write"])
        if "partitioned" in step:
            return f"at least {self.database.execute_partitioned_dml(step['partitioned'])}"
        if "analyze" in step:
            return self.analyze(step["analyze"], ExecuteSqlRequest.QueryMode.PLAN)
        if "profile" in step:
            return self.analyze(step["profile"], ExecuteSqlRequest.QueryMode.PROFILE)
        if "contended" in step:
            update = lambda transaction: transaction.execute_update(step["contended"]) and None
            return self.together(
                step["times"], lambda: self.database.run_in_transaction(update, timeout_secs=DEADLINE))
        if "increments" in step:
            return self.together(
                step["increments"],
                lambda: self.database.run_in_transaction(self.increment, timeout_secs=DEADLINE))
        if "ddl" in step:
            self.database.update_ddl(step["ddl"]).result(DEADLINE)
            return "done"
        if "get_ddl" in step:
            return self.ddl_of(step["get_ddl"])
        if "many" in step:
            return self.many(step["many"])
        with self.database.snapshot(**bound(step)) as snapshot:
            if step.keys() & {"hurried", "cancelled"}:
                return "not possible by this client"
            return ask(step, snapshot)

    def play(self, step):
        if "transaction" in step:
            return self.transaction(step, step["transaction"])
        if step.keys() & {"dml", "returning", "batch"}:
            return self.transaction(step, [step])
        return outcome(self.do, step)


def create(client, name, ddl):
    """Makes the instance, unless it is there, and the database."""
    _, _, _, instance_id, _, database_id = name.split("/")
    configuration = f"projects/{client.project}/instanceConfigs/emulator-config"
    instance = client.instance(instance_id, configuration, display_name="i", node_count=1)
    try:
        instance.create().result(DEADLINE)
    except AlreadyExists:
        pass
    database = instance.database(database_id, ddl_statements=ddl)
    database.create().result(DEADLINE)
    return database


def main():
    path, name = sys.argv[1:3]
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)
    client = spanner.Client(project=name.split("/")[1])
    player, fresh = Player(create(client, name, cases["ddl"])), 0
    for case, steps in cases["cases"].items():
        if case not in (sys.argv[3:] or [case]):
            continue
        try:
            player.reset(cases["rows"])
        except Aborted:
            # The emulator keeps a transaction whose first statement failed, and this client does not end it:
            # in that database no other one can begin.
            fresh += 1
            player = Player(create(client, f"{name}{fresh}", cases["ddl"]))
            player.reset(cases["rows"])
        print(f"{case}: " + " | ".join(player.play(step) for step in steps), flush=True)


main()
