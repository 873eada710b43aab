// Plays the cases of ../cases.json with Go's official client and its defaults, and prints an outcome for
// each, so that two servers can be compared. Usage: SPANNER_EMULATOR_HOST=... cases CASES.JSON DATABASE
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/spanner"
	admin "cloud.google.com/go/spanner/admin/database/apiv1"
	adminpb "cloud.google.com/go/spanner/admin/database/apiv1/databasepb"
	instance "cloud.google.com/go/spanner/admin/instance/apiv1"
	"cloud.google.com/go/spanner/admin/instance/apiv1/instancepb"
	sppb "cloud.google.com/go/spanner/apiv1/spannerpb"
	"google.golang.org/api/iterator"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/structpb"
)

// A value as [TYPE, JSON of Spanner's encoding].
type value struct{ spanner.GenericColumnValue }

func (v *value) UnmarshalJSON(text []byte) error {
	var pair []any
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	name, isArray := strings.CutPrefix(pair[0].(string), "ARRAY<")
	v.Type = &sppb.Type{Code: sppb.TypeCode(sppb.TypeCode_value[strings.TrimSuffix(name, ">")])}
	if isArray {
		v.Type = &sppb.Type{Code: sppb.TypeCode_ARRAY, ArrayElementType: v.Type}
	}
	var err error
	v.Value, err = structpb.NewValue(pair[1])
	return err
}

// [KIND, TABLE, COLUMNS, VALUES]
type mutation struct{ made *spanner.Mutation }

func (m *mutation) UnmarshalJSON(text []byte) error {
	var kind, table string
	var columns []string
	var values []value
	if err := json.Unmarshal(text, &[]any{&kind, &table, &columns, &values}); err != nil {
		return err
	}
	var all []any
	for _, v := range values {
		all = append(all, v.GenericColumnValue)
	}
	switch kind {
	case "insert":
		m.made = spanner.Insert(table, columns, all)
	case "update":
		m.made = spanner.Update(table, columns, all)
	case "insert_or_update":
		m.made = spanner.InsertOrUpdate(table, columns, all)
	case "replace":
		m.made = spanner.Replace(table, columns, all)
	case "delete":
		m.made = spanner.Delete(table, keyOf(values))
	}
	return nil
}

func keyOf(values []value) (key spanner.Key) {
	for _, v := range values {
		key = append(key, v.Value.GetStringValue())
	}
	return key
}

func made(all []mutation) (out []*spanner.Mutation) {
	for _, m := range all {
		out = append(out, m.made)
	}
	return out
}

type step struct {
	Query, Dml, Returning, Read, Bound, End, Analyze, Profile string
	Contended, Partitioned, Hurried, Cancelled                string
	GetDdl                                                    string `json:"get_ddl"`
	Params                                                    map[string]value
	Columns, Batch, Ddl                                       []string
	Keys                                                      [][]value
	Range                                                     json.RawMessage
	Transaction, Snapshot                                     *[]step
	Outside                                                   *step
	IgnoreErrors                                              bool `json:"ignore_errors"`
	AtLeastOnce                                               bool `json:"at_least_once"`
	Buffer, Apply                                             []mutation
	BatchWrite                                                [][]mutation `json:"batch_write"`
	Times, Increments, Many, Limit, Aborts                    int
}

func (s step) statement(sql string) spanner.Statement {
	statement := spanner.NewStatement(sql)
	for name, v := range s.Params {
		statement.Params[name] = v.GenericColumnValue
	}
	return statement
}

func (s step) keys() spanner.KeySet {
	if s.Range != nil {
		var from, to value
		var kind string
		check(json.Unmarshal(s.Range, &[]any{&from, &to, &kind}))
		kinds := map[string]spanner.KeyRangeKind{"closed": spanner.ClosedClosed, "open": spanner.OpenOpen}
		return spanner.KeyRange{Start: keyOf([]value{from}), End: keyOf([]value{to}), Kind: kinds[kind]}
	}
	if s.Keys == nil {
		return spanner.AllKeys()
	}
	var sets []spanner.KeySet
	for _, key := range s.Keys {
		sets = append(sets, keyOf(key))
	}
	return spanner.KeySets(sets...)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func outcome(text string, err error) string {
	if err == nil {
		return text
	}
	code := spanner.ErrCode(err)
	if code == codes.Unknown && err == context.Canceled {
		code = codes.Canceled
	}
	if os.Getenv("VERBOSE") != "" {
		return strings.TrimSpace(code.String() + " " + text + " " + err.Error())
	}
	return strings.TrimSpace(code.String() + " " + text)
}

func rows(rows *spanner.RowIterator) (string, error) {
	defer rows.Stop()
	out := ""
	count := 0
	for {
		row, err := rows.Next()
		if err == iterator.Done {
			break
		}
		if err != nil {
			return "", err
		}
		if count++; count > 20 {
			continue
		}
		var values []string
		for i := range row.Size() {
			var v spanner.GenericColumnValue
			check(row.Column(i, &v))
			text, _ := v.Value.MarshalJSON()
			kind := v.Type.Code.String()
			if v.Type.ArrayElementType != nil {
				kind += " of " + v.Type.ArrayElementType.Code.String()
			}
			values = append(values, row.ColumnName(i)+" "+kind+" "+strings.ReplaceAll(string(text), ", ", ","))
		}
		out += "(" + strings.Join(values, "; ") + ")"
	}
	return fmt.Sprintf("%d rows%s", count, out), nil
}

type reader interface {
	Query(context.Context, spanner.Statement) *spanner.RowIterator
	ReadWithOptions(context.Context, string, spanner.KeySet, []string, *spanner.ReadOptions) *spanner.RowIterator
}

func (s step) ask(ctx context.Context, from reader) (string, error) {
	if s.Query != "" {
		return rows(from.Query(ctx, s.statement(s.Query)))
	}
	return rows(from.ReadWithOptions(ctx, s.Read, s.keys(), s.Columns, &spanner.ReadOptions{Limit: s.Limit}))
}

type player struct {
	client   *spanner.Client
	admin    *admin.DatabaseAdminClient
	database string
}

func (p player) within(ctx context.Context, s step, tx *spanner.ReadWriteTransaction) (string, error) {
	switch {
	case s.Dml != "":
		count, err := tx.Update(ctx, s.statement(s.Dml))
		return fmt.Sprint(count, " changed"), err
	case s.Returning != "":
		return rows(tx.Query(ctx, s.statement(s.Returning)))
	case s.Batch != nil:
		var all []spanner.Statement
		for _, sql := range s.Batch {
			all = append(all, spanner.NewStatement(sql))
		}
		counts, err := tx.BatchUpdate(ctx, all)
		return fmt.Sprint(counts), err
	case s.Buffer != nil:
		return "buffered", tx.BufferWrite(made(s.Buffer))
	}
	return s.ask(ctx, tx)
}

func (p player) transaction(ctx context.Context, s step, steps []step) string {
	var parts []string
	attempts := 0
	_, err := p.client.ReadWriteTransaction(ctx, func(ctx context.Context, tx *spanner.ReadWriteTransaction) error {
		parts = nil
		if attempts++; attempts <= s.Aborts {
			_, _ = tx.Update(ctx, spanner.NewStatement("DELETE FROM locks WHERE name = 'nobody'"))
			return spanner.ToSpannerError(abortedError())
		}
		for _, one := range steps {
			text, err := p.within(ctx, one, tx)
			parts = append(parts, outcome(text, err))
			if err != nil && !s.IgnoreErrors {
				return err
			}
		}
		if s.End == "rollback" {
			return fmt.Errorf("rolled back")
		}
		return nil
	})
	if s.Aborts > 0 {
		parts = append(parts, fmt.Sprint(attempts, " attempts"))
	}
	return "{" + strings.Join(parts, ", ") + "} " + outcome("committed", err)
}

func (p player) play(ctx context.Context, s step) string {
	single := p.client.Single()
	switch s.Bound {
	case "exact":
		time.Sleep(50 * time.Millisecond)
		single = single.WithTimestampBound(spanner.ExactStaleness(10 * time.Millisecond))
	case "max":
		single = single.WithTimestampBound(spanner.MaxStaleness(10 * time.Second))
	case "min":
		single = single.WithTimestampBound(spanner.MinReadTimestamp(time.Now().Add(-time.Second)))
	case "read_now":
		single = single.WithTimestampBound(spanner.ReadTimestamp(time.Now()))
	case "too_old":
		single = single.WithTimestampBound(spanner.ExactStaleness(3 * time.Hour))
	}
	switch {
	case s.Transaction != nil:
		return p.transaction(ctx, s, *s.Transaction)
	case s.Dml != "" || s.Returning != "" || s.Batch != nil:
		return p.transaction(ctx, s, []step{s})
	case s.Snapshot != nil:
		snapshot := p.client.ReadOnlyTransaction()
		defer snapshot.Close()
		var parts []string
		for _, one := range *s.Snapshot {
			if one.Outside != nil {
				parts = append(parts, p.play(ctx, *one.Outside))
				continue
			}
			parts = append(parts, outcome(one.ask(ctx, snapshot)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case s.Apply != nil:
		var options []spanner.ApplyOption
		if s.AtLeastOnce {
			options = append(options, spanner.ApplyAtLeastOnce())
		}
		_, err := p.client.Apply(ctx, made(s.Apply), options...)
		return outcome("applied", err)
	case s.BatchWrite != nil:
		var groups []*spanner.MutationGroup
		for _, group := range s.BatchWrite {
			groups = append(groups, &spanner.MutationGroup{Mutations: made(group)})
		}
		var parts []string
		err := p.client.BatchWrite(ctx, groups).Do(func(r *sppb.BatchWriteResponse) error {
			for _, index := range r.Indexes {
				parts = append(parts, fmt.Sprint(index, " ", codes.Code(r.Status.GetCode())))
			}
			return nil
		})
		sort.Strings(parts)
		return outcome(strings.Join(parts, ", "), err)
	case s.Partitioned != "":
		count, err := p.client.PartitionedUpdate(ctx, spanner.NewStatement(s.Partitioned))
		return outcome(fmt.Sprint("at least ", count), err)
	case s.Analyze != "":
		return p.analyze(ctx, s)
	case s.Profile != "":
		it := single.QueryWithStats(ctx, spanner.NewStatement(s.Profile))
		text, err := rows(it)
		return outcome(fmt.Sprint(text, " with statistics: ", len(it.QueryStats) > 0), err)
	case s.Contended != "":
		return p.together(s.Times, func() error {
			_, err := p.client.ReadWriteTransaction(ctx, func(ctx context.Context, tx *spanner.ReadWriteTransaction) error {
				_, err := tx.Update(ctx, spanner.NewStatement(s.Contended))
				return err
			})
			return err
		})
	case s.Increments > 0:
		return p.together(s.Increments, func() error { return p.increment(ctx) })
	case s.Hurried != "":
		hurried, cancel := context.WithTimeout(ctx, time.Nanosecond)
		defer cancel()
		return outcome(rows(single.Query(hurried, spanner.NewStatement(s.Hurried))))
	case s.Cancelled != "":
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		return outcome(rows(single.Query(cancelled, spanner.NewStatement(s.Cancelled))))
	case s.Ddl != nil:
		operation, err := p.admin.UpdateDatabaseDdl(ctx, &adminpb.UpdateDatabaseDdlRequest{Database: p.database, Statements: s.Ddl})
		if err == nil {
			err = operation.Wait(ctx)
		}
		return outcome("done", err)
	case s.GetDdl != "":
		reply, err := p.admin.GetDatabaseDdl(ctx, &adminpb.GetDatabaseDdlRequest{Database: p.database})
		for _, statement := range reply.GetStatements() {
			if strings.HasPrefix(statement, "CREATE TABLE "+s.GetDdl+" ") {
				return strings.Join(strings.Fields(statement), " ")
			}
		}
		return outcome("no such table", err)
	case s.Many > 0:
		return p.many(ctx, s.Many)
	}
	return outcome(s.ask(ctx, single))
}

func (p player) analyze(ctx context.Context, s step) string {
	if !strings.HasPrefix(s.Analyze, "SELECT") {
		var err error
		_, failed := p.client.ReadWriteTransaction(ctx, func(ctx context.Context, tx *spanner.ReadWriteTransaction) error {
			_, err = tx.AnalyzeQuery(ctx, spanner.NewStatement(s.Analyze))
			return nil
		})
		return outcome("analyzed", err) + " " + outcome("committed", failed)
	}
	_, err := p.client.Single().AnalyzeQuery(ctx, spanner.NewStatement(s.Analyze))
	return outcome("analyzed", err)
}

func (p player) increment(ctx context.Context) error {
	_, err := p.client.ReadWriteTransaction(ctx, func(ctx context.Context, tx *spanner.ReadWriteTransaction) error {
		row, err := tx.ReadRow(ctx, "kinds", spanner.Key{1}, []string{"i"})
		if err != nil {
			return err
		}
		var i int64
		if err := row.Column(0, &i); err != nil {
			return err
		}
		return tx.BufferWrite([]*spanner.Mutation{spanner.Update("kinds", []string{"id", "i"}, []any{1, i + 1})})
	})
	return err
}

func (p player) together(times int, do func() error) string {
	var wait sync.WaitGroup
	var mutex sync.Mutex
	var first error
	for range times {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if err := do(); err != nil {
				mutex.Lock()
				first = err
				mutex.Unlock()
			}
		}()
	}
	wait.Wait()
	return outcome(fmt.Sprint(times, " done"), first)
}

func (p player) many(ctx context.Context, count int) string {
	var all []*spanner.Mutation
	for i := range count {
		all = append(all, spanner.Insert("kinds", []string{"id", "s"}, []any{int64(100 + i), strings.Repeat("s", 1000)}))
	}
	if _, err := p.client.Apply(ctx, all); err != nil {
		return outcome("", err)
	}
	text, err := rows(p.client.Single().Query(ctx, spanner.NewStatement("SELECT id, s FROM kinds WHERE id >= 100 ORDER BY id")))
	return outcome(strings.SplitN(text, "(", 2)[0], err)
}

func (p player) reset(ctx context.Context, fresh []mutation) error {
	all := []*spanner.Mutation{
		spanner.Delete("locks", spanner.AllKeys()), spanner.Delete("kinds", spanner.AllKeys()),
	}
	_, err := p.client.Apply(ctx, append(all, made(fresh)...))
	return err
}

// Makes the instance, unless it is there, and the database.
func create(ctx context.Context, databases *admin.DatabaseAdminClient, name string, ddl []string) error {
	parts := strings.Split(name, "/") // projects/P/instances/I/databases/D
	project, parent := strings.Join(parts[:2], "/"), strings.Join(parts[:4], "/")
	instances, err := instance.NewInstanceAdminClient(ctx)
	check(err)
	made, err := instances.CreateInstance(ctx, &instancepb.CreateInstanceRequest{
		Parent: project, InstanceId: parts[3],
		Instance: &instancepb.Instance{Config: project + "/instanceConfigs/emulator-config", DisplayName: "i", NodeCount: 1},
	})
	if err == nil {
		_, err = made.Wait(ctx)
	}
	if err != nil && spanner.ErrCode(err) != codes.AlreadyExists {
		return err
	}
	operation, err := databases.CreateDatabase(ctx, &adminpb.CreateDatabaseRequest{
		Parent: parent, CreateStatement: "CREATE DATABASE `" + parts[5] + "`", ExtraStatements: ddl,
	})
	if err == nil {
		_, err = operation.Wait(ctx)
	}
	return err
}

func main() {
	ctx := context.Background()
	text, err := os.ReadFile(os.Args[1])
	check(err)
	var file struct {
		Ddl   []string
		Rows  []json.RawMessage
		Cases json.RawMessage
	}
	check(json.Unmarshal(text, &file))
	var fresh []mutation
	for _, row := range file.Rows {
		var m mutation
		check(m.UnmarshalJSON([]byte(`["insert",` + string(row[1:]))))
		fresh = append(fresh, m)
	}
	player := player{database: os.Args[2]}
	player.admin, err = admin.NewDatabaseAdminClient(ctx)
	check(err)
	check(create(ctx, player.admin, player.database, file.Ddl))
	player.client, err = spanner.NewClient(ctx, player.database)
	check(err)

	cases := json.NewDecoder(strings.NewReader(string(file.Cases)))
	_, err = cases.Token() // {
	check(err)
	for cases.More() {
		name, err := cases.Token()
		check(err)
		var steps []step
		check(cases.Decode(&steps))
		check(player.reset(ctx, fresh))
		var outcomes []string
		for _, one := range steps {
			limited, cancel := context.WithTimeout(ctx, 20*time.Second)
			outcomes = append(outcomes, player.play(limited, one))
			cancel()
		}
		fmt.Printf("%s: %s\n", name, strings.Join(outcomes, " | "))
	}
	player.client.Close()
}
