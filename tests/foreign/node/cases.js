// Plays the cases of ../cases.json with Node's official client and its defaults, and prints an outcome for
// each, so that two servers can be compared.
// Usage: SPANNER_EMULATOR_HOST=... node cases.js CASES.JSON DATABASE [CASE]
import {readFileSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';
import {MutationGroup, MutationSet, Spanner} from '@google-cloud/spanner';

const DEADLINE = 20000; // ms, of a step
const CODES =
  ('OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED ' +
    'RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE ' +
    'DATA_LOSS UNAUTHENTICATED').split(' ');
const ABORTED = 10;
const GAX = {gaxOptions: {timeout: DEADLINE}};

class RolledBack extends Error {}

function failure(error) {
  if (error instanceof RolledBack) return 'rolled back';
  if (error.code === undefined) return `${error.name}: ${error.message}`;
  return process.env.VERBOSE ? `${CODES[error.code]} ${error.message}` : CODES[error.code];
}

async function outcome(work) {
  try {
    return await work();
  } catch (error) {
    return failure(error);
  }
}

function typeOf(name) {
  if (!name.startsWith('ARRAY<')) return name.toLowerCase();
  return {type: 'array', child: name.slice(6, -1).toLowerCase()};
}

// A value of the client of Spanner's encoding as JSON.
function valueOf([type, value]) {
  if (value === null) return null;
  if (type.startsWith('ARRAY<')) return value.map(one => valueOf([type.slice(6, -1), one]));
  switch (type) {
    case 'INT64':
      return Spanner.int(value);
    case 'FLOAT64':
      return Spanner.float(value);
    case 'FLOAT32':
      return Spanner.float32(value);
    case 'NUMERIC':
      return Spanner.numeric(value);
    case 'BYTES':
      return Buffer.from(value, 'base64');
    case 'JSON':
      return JSON.parse(value);
    case 'DATE':
      return Spanner.date(value);
    case 'TIMESTAMP':
      return value === 'spanner.commit_timestamp()' ? Spanner.COMMIT_TIMESTAMP : Spanner.timestamp(value);
  }
  return value;
}

function rowsOf(rows) {
  const shown = rows.slice(0, 20).map(row => {
    const columns = row.map(({name, value}) => {
      const kind = value === null || value === undefined ? '' : value.constructor.name;
      return `${name ?? ''} ${kind} ${JSON.stringify(value)}`;
    });
    return `(${columns.join('; ')})`;
  });
  return `${rows.length} rows${shown.join('')}`;
}

function statement(step, sql) {
  const params = {};
  const types = {};
  for (const [name, value] of Object.entries(step.params ?? {})) {
    params[name] = valueOf(value);
    types[name] = typeOf(value[0]);
  }
  return {sql, params, types, ...GAX};
}

function keysOf(step) {
  if (step.range) {
    const [start, end, kind] = step.range;
    const edge = kind[0].toUpperCase() + kind.slice(1);
    return {ranges: [{['start' + edge]: [valueOf(start)], ['end' + edge]: [valueOf(end)]}]};
  }
  if (step.keys) return {keys: step.keys.map(key => key.map(valueOf))};
  return {keySet: {all: true}};
}

const CALLS = {insert: 'insert', update: 'update', insert_or_update: 'upsert', replace: 'replace'};

// Writes mutations to a transaction, a MutationSet or a MutationGroup.
function mutate(target, mutations) {
  for (const [kind, table, columns, values] of mutations) {
    const all = values.map(valueOf);
    if (kind === 'delete') {
      target.deleteRows(table, [all]);
    } else {
      target[CALLS[kind]](table, Object.fromEntries(columns.map((name, i) => [name, all[i]])));
    }
  }
}

async function ask(step, reader) {
  if (step.query) return rowsOf((await reader.run(statement(step, step.query)))[0]);
  const request = {columns: step.columns, ...keysOf(step), ...GAX};
  if (step.limit) request.limit = step.limit;
  return rowsOf((await reader.read(step.read, request))[0]);
}

async function within(step, transaction) {
  if (step.dml) return `${(await transaction.runUpdate(statement(step, step.dml)))[0]} changed`;
  if (step.returning) return rowsOf((await transaction.run(statement(step, step.returning)))[0]);
  if (step.batch) return `[${(await transaction.batchUpdate(step.batch))[0]}]`;
  if (step.buffer) {
    mutate(transaction, step.buffer);
    return 'buffered';
  }
  return ask(step, transaction);
}

const BOUNDS = {
  exact: () => ({exactStaleness: 10}),
  max: () => ({maxStaleness: 10000}),
  min: () => ({minReadTimestamp: Spanner.timestamp(new Date(Date.now() - 1000))}),
  read_now: () => ({readTimestamp: Spanner.timestamp(new Date())}),
  too_old: () => ({exactStaleness: 3 * 3600 * 1000}),
};

class Player {
  constructor(database) {
    this.database = database;
  }

  run(work) {
    return this.database.runTransactionAsync({timeout: DEADLINE}, async transaction => {
      const said = await work(transaction);
      await transaction.commit();
      return said;
    });
  }

  async transaction(step, steps) {
    let parts = [];
    let attempts = 0;
    const end = await outcome(async () => {
      await this.run(async transaction => {
        parts = [];
        if (++attempts <= (step.aborts ?? 0)) {
          await transaction.runUpdate("DELETE FROM locks WHERE name = 'nobody'");
          throw Object.assign(new Error('aborted by hand'), {code: ABORTED});
        }
        for (const one of steps) {
          try {
            parts.push(await within(one, transaction));
          } catch (error) {
            if (error.code === ABORTED) throw error;
            parts.push(failure(error));
            if (!step.ignore_errors) throw error;
          }
        }
        if (step.end === 'rollback') {
          await transaction.rollback();
          throw new RolledBack();
        }
      });
      return 'committed';
    });
    if (step.aborts) parts.push(`${attempts} attempts`);
    return `{${parts.join(', ')}} ${end}`;
  }

  async snapshot(steps) {
    const [snapshot] = await this.database.getSnapshot();
    const parts = [];
    for (const one of steps) {
      parts.push(one.outside ? await this.play(one.outside) : await outcome(() => ask(one, snapshot)));
    }
    snapshot.end();
    return `{${parts.join(', ')}}`;
  }

  async apply(step) {
    if (step.at_least_once) {
      const mutations = new MutationSet();
      mutate(mutations, step.apply);
      await this.database.writeAtLeastOnce(mutations);
    } else {
      await this.run(async transaction => mutate(transaction, step.apply));
    }
    return 'applied';
  }

  async batchWrite(groups) {
    const made = groups.map(group => {
      const one = new MutationGroup();
      mutate(one, group);
      return one;
    });
    const parts = [];
    for await (const response of this.database.batchWriteAtLeastOnce(made, GAX)) {
      for (const index of response.indexes) parts.push(`${index} ${CODES[response.status.code]}`);
    }
    return parts.sort().join(', ');
  }

  // `mode`: PLAN or PROFILE.
  async analyze(sql, mode) {
    const request = {sql, queryMode: mode, ...GAX};
    const said = ([rows, stats]) =>
      `${rowsOf(rows)} plan: ${Boolean(stats?.queryPlan)} statistics: ${Boolean(stats?.queryStats)}`;
    if (sql.startsWith('SELECT')) return said(await this.database.run(request));
    return this.run(async transaction => said(await transaction.run(request)));
  }

  async together(times, work) {
    const ends = await Promise.all(Array.from({length: times}, () => outcome(() => this.run(work))));
    return [`${times} done`, ...ends.filter(end => end !== undefined)].join(' ');
  }

  async many(count) {
    await this.run(async transaction => {
      transaction.insert('kinds', Array.from({length: count}, (_, i) => ({id: 100 + i, s: 's'.repeat(1000)})));
    });
    const [rows] = await this.database.run({
      sql: 'SELECT id, s FROM kinds WHERE id >= 100 ORDER BY id', ...GAX});
    return `${rows.length} rows`;
  }

  async schema(table) {
    const [statements] = await this.database.getSchema();
    const found = statements.find(one => one.startsWith(`CREATE TABLE ${table} `));
    return found?.split(/\s+/).join(' ') ?? 'no such table';
  }

  async increment(transaction) {
    const [rows] = await transaction.read('kinds', {keys: [[1]], columns: ['i']});
    transaction.update('kinds', {id: 1, i: Spanner.int(Number(rows[0][0].value.value) + 1)});
  }

  async single(step) {
    if (step.bound) await sleep(50); // The rows are older then.
    const bounds = BOUNDS[step.bound]?.();
    if (step.query) return rowsOf((await this.database.run(statement(step, step.query), bounds))[0]);
    const request = {columns: step.columns, ...keysOf(step), ...GAX};
    if (step.limit) request.limit = step.limit;
    return rowsOf((await this.database.table(step.read).read(request, bounds))[0]);
  }

  async do(step) {
    if (step.snapshot) return this.snapshot(step.snapshot);
    if (step.apply) return this.apply(step);
    if (step.batch_write) return this.batchWrite(step.batch_write);
    if (step.partitioned) return `at least ${(await this.database.runPartitionedUpdate(step.partitioned))[0]}`;
    if (step.analyze) return this.analyze(step.analyze, 'PLAN');
    if (step.profile) return this.analyze(step.profile, 'PROFILE');
    if (step.contended) {
      return this.together(step.times, async transaction => void (await transaction.runUpdate(step.contended)));
    }
    if (step.increments) return this.together(step.increments, transaction => this.increment(transaction));
    if (step.ddl) {
      const [operation] = await this.database.updateSchema(step.ddl);
      await operation.promise();
      return 'done';
    }
    if (step.get_ddl) return this.schema(step.get_ddl);
    if (step.many) return this.many(step.many);
    if (step.hurried || step.cancelled) return 'not possible by this client';
    return this.single(step);
  }

  play(step) {
    if (step.transaction) return this.transaction(step, step.transaction);
    if (step.dml || step.returning || step.batch) return this.transaction(step, [step]);
    return outcome(() => this.do(step));
  }

  reset(rows) {
    return this.run(async transaction => {
      transaction.deleteRows('locks', ['a', 'b', 'c']);
      mutate(transaction, rows.map(row => ['insert', ...row]));
    });
  }
}

// Makes a database of this number, and its instance, unless it is there: one has room for 100 databases.
async function create(spanner, name, number, ddl) {
  const [, project, , instanceName, , databaseName] = name.split('/');
  const instance = spanner.instance(`${instanceName}${Math.floor(number / 100)}`);
  try {
    const config = {config: `projects/${project}/instanceConfigs/emulator-config`, displayName: 'i', nodes: 1};
    await (await instance.create(config))[1].promise();
  } catch (error) {
    if (CODES[error.code] !== 'ALREADY_EXISTS') throw error;
  }
  const [database, operation] = await instance.createDatabase(`${databaseName}${number}`, {schema: ddl});
  await operation.promise();
  return database;
}

const [path, name, only] = process.argv.slice(2);
const file = JSON.parse(readFileSync(path, 'utf8'));
const spanner = new Spanner({projectId: name.split('/')[1]});
const titles = Object.keys(file.cases).filter(title => only === undefined || only === title);
const lines = [];

// A database for each case: in the emulator, a transaction that one left open would be in the way of others.
async function playNext() {
  while (lines.length < titles.length) {
    const index = lines.push(undefined) - 1;
    const player = new Player(await create(spanner, name, index, file.ddl));
    await player.reset(file.rows);
    const ends = [];
    for (const step of file.cases[titles[index]]) ends.push(await player.play(step));
    lines[index] = `${titles[index]}: ${ends.join(' | ')}`;
  }
}

// Some at once: this client sends a stream that failed again, whatever its error is, after seconds.
await Promise.all(Array.from({length: 16}, playNext));
lines.forEach(line => console.log(line));
process.exit(0);
