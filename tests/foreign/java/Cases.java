import com.google.api.gax.grpc.GrpcCallContext;
import com.google.api.gax.rpc.ApiCallContext;
import com.google.api.gax.rpc.ApiException;
import com.google.cloud.ByteArray;
import com.google.cloud.Date;
import com.google.cloud.Timestamp;
import com.google.cloud.spanner.DatabaseClient;
import com.google.cloud.spanner.DatabaseId;
import com.google.cloud.spanner.ErrorCode;
import com.google.cloud.spanner.InstanceConfigId;
import com.google.cloud.spanner.InstanceId;
import com.google.cloud.spanner.InstanceInfo;
import com.google.cloud.spanner.Key;
import com.google.cloud.spanner.KeyRange;
import com.google.cloud.spanner.KeySet;
import com.google.cloud.spanner.Mutation;
import com.google.cloud.spanner.MutationGroup;
import com.google.cloud.spanner.Options;
import com.google.cloud.spanner.ReadContext;
import com.google.cloud.spanner.ReadContext.QueryAnalyzeMode;
import com.google.cloud.spanner.ResultSet;
import com.google.cloud.spanner.Spanner;
import com.google.cloud.spanner.SpannerBatchUpdateException;
import com.google.cloud.spanner.SpannerException;
import com.google.cloud.spanner.SpannerExceptionFactory;
import com.google.cloud.spanner.SpannerOptions;
import com.google.cloud.spanner.Statement;
import com.google.cloud.spanner.Struct;
import com.google.cloud.spanner.TimestampBound;
import com.google.cloud.spanner.TransactionContext;
import com.google.cloud.spanner.TransactionRunner;
import com.google.cloud.spanner.Value;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.grpc.Context;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Plays the cases of ../cases.json with Java's official client and its defaults, and prints an outcome for
 * each, so that two servers can be compared.
 *
 * <p>Usage: SPANNER_EMULATOR_HOST=... java -cp ... Cases.java CASES.JSON DATABASE [CASE]
 */
public class Cases {
  static class RolledBack extends RuntimeException {}

  interface Work {
    String run(TransactionContext transaction) throws Exception;
  }

  static String said(SpannerException error) {
    String code = error.getErrorCode().name();
    return System.getenv("VERBOSE") == null ? code : code + " " + error.getMessage();
  }

  static String outcome(Callable<String> work) {
    try {
      return work.call();
    } catch (Exception error) {
      for (Throwable cause = error; cause != null; cause = cause.getCause()) {
        if (cause instanceof RolledBack || cause.getCause() instanceof RolledBack) return "rolled back";
        if (cause instanceof SpannerException known) return said(known);
        if (cause instanceof ApiException known) return known.getStatusCode().getCode().name();
      }
      return error.getClass().getSimpleName() + ": " + error.getMessage();
    }
  }

  static List<JsonElement> all(JsonElement array) {
    return array.getAsJsonArray().asList();
  }

  static List<String> texts(JsonElement array) {
    return all(array).stream().map(JsonElement::getAsString).toList();
  }

  static <T> T orNull(JsonElement value, Function<JsonElement, T> made) {
    return value.isJsonNull() ? null : made.apply(value);
  }

  /** A value of the client of [TYPE, JSON of Spanner's encoding]. */
  static Value valueOf(JsonElement typed) {
    String type = typed.getAsJsonArray().get(0).getAsString();
    JsonElement v = typed.getAsJsonArray().get(1);
    switch (type) {
      case "BOOL":
        return Value.bool(orNull(v, JsonElement::getAsBoolean));
      case "INT64":
        return Value.int64(orNull(v, JsonElement::getAsLong));
      case "FLOAT64":
        return Value.float64(orNull(v, JsonElement::getAsDouble));
      case "FLOAT32":
        return Value.float32(orNull(v, JsonElement::getAsFloat));
      case "NUMERIC":
        return Value.numeric(orNull(v, one -> new BigDecimal(one.getAsString())));
      case "STRING":
        return Value.string(orNull(v, JsonElement::getAsString));
      case "JSON":
        return Value.json(orNull(v, JsonElement::getAsString));
      case "BYTES":
        return Value.bytes(orNull(v, one -> ByteArray.fromBase64(one.getAsString())));
      case "DATE":
        return Value.date(orNull(v, one -> Date.parseDate(one.getAsString())));
      case "TIMESTAMP":
        return Value.timestamp(orNull(v, Cases::timestampOf));
      case "ARRAY<INT64>":
        return Value.int64Array(elements(v, JsonElement::getAsLong));
      case "ARRAY<STRING>":
        return Value.stringArray(elements(v, JsonElement::getAsString));
      default:
        throw new IllegalArgumentException("no such type in Cases.java: " + type);
    }
  }

  static <T> Iterable<T> elements(JsonElement array, Function<JsonElement, T> made) {
    if (array.isJsonNull()) return null;
    List<T> result = new ArrayList<>();
    all(array).forEach(one -> result.add(orNull(one, made)));
    return result;
  }

  static Timestamp timestampOf(JsonElement text) {
    boolean pending = text.getAsString().equals("spanner.commit_timestamp()");
    return pending ? Value.COMMIT_TIMESTAMP : Timestamp.parseTimestamp(text.getAsString());
  }

  static Key keyOf(JsonElement values) {
    Key.Builder key = Key.newBuilder();
    for (JsonElement typed : all(values)) key.appendObject(partOf(typed));
    return key.build();
  }

  static Object partOf(JsonElement typed) {
    Value value = valueOf(typed);
    return value.getType().getCode().name().equals("INT64") ? (Object) value.getInt64() : value.getString();
  }

  static KeySet keysOf(JsonObject step) {
    if (step.has("range")) {
      JsonArray range = step.getAsJsonArray("range");
      Key start = Key.of(partOf(range.get(0)));
      Key end = Key.of(partOf(range.get(1)));
      boolean closed = range.get(2).getAsString().equals("closed");
      return KeySet.range(closed ? KeyRange.closedClosed(start, end) : KeyRange.openOpen(start, end));
    }
    if (!step.has("keys")) return KeySet.all();
    KeySet.Builder keys = KeySet.newBuilder();
    for (JsonElement key : all(step.get("keys"))) keys.addKey(keyOf(key));
    return keys.build();
  }

  static Mutation mutationOf(JsonElement described) {
    JsonArray parts = described.getAsJsonArray();
    String table = parts.get(1).getAsString();
    Mutation.WriteBuilder builder;
    switch (parts.get(0).getAsString()) {
      case "insert":
        builder = Mutation.newInsertBuilder(table);
        break;
      case "update":
        builder = Mutation.newUpdateBuilder(table);
        break;
      case "insert_or_update":
        builder = Mutation.newInsertOrUpdateBuilder(table);
        break;
      case "replace":
        builder = Mutation.newReplaceBuilder(table);
        break;
      default:
        return Mutation.delete(table, keyOf(parts.get(3)));
    }
    List<String> columns = texts(parts.get(2));
    for (int i = 0; i < columns.size(); ++i) {
      builder.set(columns.get(i)).to(valueOf(parts.get(3).getAsJsonArray().get(i)));
    }
    return builder.build();
  }

  static List<Mutation> mutationsOf(JsonElement described) {
    return all(described).stream().map(Cases::mutationOf).toList();
  }

  static Statement statement(JsonObject step, String sql) {
    Statement.Builder builder = Statement.newBuilder(sql);
    if (step.has("params")) {
      step.getAsJsonObject("params").entrySet().forEach(
          entry -> builder.bind(entry.getKey()).to(valueOf(entry.getValue())));
    }
    return builder.build();
  }

  static String rowsOf(ResultSet result) {
    StringBuilder text = new StringBuilder();
    int count = 0;
    try (result) {
      while (result.next()) {
        if (++count > 20) continue;
        Struct row = result.getCurrentRowAsStruct();
        List<String> columns = new ArrayList<>();
        for (int i = 0; i < row.getColumnCount(); ++i) {
          var field = row.getType().getStructFields().get(i);
          columns.add(field.getName() + " " + field.getType() + " " + row.getValue(i));
        }
        text.append("(").append(String.join("; ", columns)).append(")");
      }
    }
    return count + " rows" + text;
  }

  static String ask(JsonObject step, ReadContext reader) {
    if (step.has("query")) return rowsOf(reader.executeQuery(statement(step, step.get("query").getAsString())));
    String table = step.get("read").getAsString();
    List<String> columns = texts(step.get("columns"));
    if (!step.has("limit")) return rowsOf(reader.read(table, keysOf(step), columns));
    return rowsOf(reader.read(table, keysOf(step), columns, Options.limit(step.get("limit").getAsLong())));
  }

  static String within(JsonObject step, TransactionContext transaction) {
    if (step.has("dml")) {
      return transaction.executeUpdate(statement(step, step.get("dml").getAsString())) + " changed";
    }
    if (step.has("returning")) {
      return rowsOf(transaction.executeQuery(statement(step, step.get("returning").getAsString())));
    }
    if (step.has("batch")) {
      List<Statement> statements = texts(step.get("batch")).stream().map(Statement::of).toList();
      try {
        return Arrays.toString(transaction.batchUpdate(statements));
      } catch (SpannerBatchUpdateException error) {
        return error.getErrorCode() + " " + Arrays.toString(error.getUpdateCounts());
      }
    }
    if (step.has("buffer")) {
      transaction.buffer(mutationsOf(step.get("buffer")));
      return "buffered";
    }
    return ask(step, transaction);
  }

  static TimestampBound boundOf(JsonObject step) throws InterruptedException {
    if (!step.has("bound")) return TimestampBound.strong();
    Timestamp now = Timestamp.now();
    switch (step.get("bound").getAsString()) {
      case "exact":
        Thread.sleep(50); // The rows are older then.
        return TimestampBound.ofExactStaleness(10, TimeUnit.MILLISECONDS);
      case "max":
        return TimestampBound.ofMaxStaleness(10, TimeUnit.SECONDS);
      case "min":
        return TimestampBound.ofMinReadTimestamp(
            Timestamp.ofTimeSecondsAndNanos(now.getSeconds() - 1, now.getNanos()));
      case "read_now":
        return TimestampBound.ofReadTimestamp(now);
      default:
        return TimestampBound.ofExactStaleness(3, TimeUnit.HOURS);
    }
  }

  /** A number of times at once; says which of them failed. */
  static String together(int times, Callable<String> work) throws InterruptedException {
    List<String> failures = Collections.synchronizedList(new ArrayList<>());
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < times; ++i) {
      threads.add(new Thread(() -> {
        String end = outcome(work);
        if (end != null) failures.add(end);
      }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) thread.join();
    return (times + " done " + String.join(" ", failures)).strip();
  }

  static class Player {
    final Spanner spanner;
    final DatabaseId id;
    final DatabaseClient client;

    Player(Spanner spanner, DatabaseId id) {
      this.spanner = spanner;
      this.id = id;
      client = spanner.getDatabaseClient(id);
    }

    String run(Work work) {
      return client.readWriteTransaction().run(work::run);
    }

    void reset(JsonElement rows) {
      run(transaction -> {
        for (String table : List.of("locks", "kinds")) transaction.buffer(Mutation.delete(table, KeySet.all()));
        for (JsonElement row : all(rows)) {
          JsonArray mutation = new JsonArray();
          mutation.add("insert");
          mutation.addAll(row.getAsJsonArray());
          transaction.buffer(mutationOf(mutation));
        }
        return null;
      });
    }

    String transaction(JsonObject step, List<JsonElement> steps) {
      List<String> parts = new ArrayList<>();
      int[] attempts = {0};
      int aborts = step.has("aborts") ? step.get("aborts").getAsInt() : 0;
      String end = outcome(() -> run(transaction -> {
        parts.clear();
        if (++attempts[0] <= aborts) {
          transaction.executeUpdate(Statement.of("DELETE FROM locks WHERE name = 'nobody'"));
          throw SpannerExceptionFactory.newSpannerException(ErrorCode.ABORTED, "aborted by hand");
        }
        for (JsonElement one : steps) {
          try {
            parts.add(within(one.getAsJsonObject(), transaction));
          } catch (SpannerException error) {
            if (error.getErrorCode() == ErrorCode.ABORTED) throw error;
            parts.add(said(error));
            if (!step.has("ignore_errors")) throw error;
          }
        }
        if (step.has("end")) throw new RolledBack();
        return "committed";
      }));
      if (step.has("aborts")) parts.add(attempts[0] + " attempts");
      return "{" + String.join(", ", parts) + "} " + end;
    }

    String snapshot(JsonElement steps) {
      List<String> parts = new ArrayList<>();
      try (ReadContext snapshot = client.readOnlyTransaction()) {
        for (JsonElement one : all(steps)) {
          JsonObject step = one.getAsJsonObject();
          parts.add(step.has("outside")
              ? play(step.getAsJsonObject("outside"))
              : outcome(() -> ask(step, snapshot)));
        }
      }
      return "{" + String.join(", ", parts) + "}";
    }

    String apply(JsonObject step) {
      List<Mutation> mutations = mutationsOf(step.get("apply"));
      if (step.has("at_least_once")) {
        client.writeAtLeastOnce(mutations);
      } else {
        client.write(mutations);
      }
      return "applied";
    }

    String batchWrite(JsonElement groups) {
      List<MutationGroup> made = all(groups).stream().map(group -> MutationGroup.of(mutationsOf(group))).toList();
      List<String> parts = new ArrayList<>();
      client.batchWriteAtLeastOnce(made).forEach(response -> response.getIndexesList().forEach(
          index -> parts.add(index + " " + Status.fromCodeValue(response.getStatus().getCode()).getCode())));
      Collections.sort(parts);
      return String.join(", ", parts);
    }

    String analyze(String sql, QueryAnalyzeMode mode) {
      if (sql.startsWith("SELECT")) return analyzed(client.singleUse().analyzeQuery(Statement.of(sql), mode));
      return run(transaction -> analyzed(transaction.analyzeUpdateStatement(Statement.of(sql), mode)));
    }

    String analyzed(ResultSet result) {
      String rows = rowsOf(result);
      var stats = result.getStats();
      return rows + " plan: " + (stats != null && stats.hasQueryPlan()) + " statistics: "
          + (stats != null && stats.hasQueryStats());
    }

    String increment(TransactionContext transaction) {
      long value = transaction.readRow("kinds", Key.of(1), List.of("i")).getLong(0);
      transaction.buffer(Mutation.newUpdateBuilder("kinds").set("id").to(1).set("i").to(value + 1).build());
      return null;
    }

    String many(int count) {
      List<Mutation> rows = new ArrayList<>();
      for (int i = 0; i < count; ++i) {
        rows.add(Mutation.newInsertBuilder("kinds").set("id").to(100 + i).set("s").to("s".repeat(1000)).build());
      }
      client.write(rows);
      String sql = "SELECT id, s FROM kinds WHERE id >= 100 ORDER BY id";
      return rowsOf(client.singleUse().executeQuery(Statement.of(sql))).split("\\(")[0];
    }

    String schema(String table) {
      for (String statement : spanner.getDatabaseAdminClient().getDatabaseDdl(
          id.getInstanceId().getInstance(), id.getDatabase())) {
        if (statement.startsWith("CREATE TABLE " + table + " ")) return String.join(" ", statement.split("\\s+"));
      }
      return "no such table";
    }

    String hurried(String sql) {
      SpannerOptions.CallContextConfigurator configurator = new SpannerOptions.CallContextConfigurator() {
        @Override
        public <RequestT, ResponseT> ApiCallContext configure(
            ApiCallContext context, RequestT request, MethodDescriptor<RequestT, ResponseT> method) {
          return GrpcCallContext.createDefault().withTimeoutDuration(Duration.ofNanos(1));
        }
      };
      Context context = Context.current().withValue(
          SpannerOptions.CALL_CONTEXT_CONFIGURATOR_KEY, configurator);
      Context before = context.attach();
      try {
        return rowsOf(client.singleUse().executeQuery(Statement.of(sql)));
      } finally {
        context.detach(before);
      }
    }

    String cancelled(String sql) {
      Context.CancellableContext context = Context.current().withCancellation();
      context.cancel(null);
      Context before = context.attach();
      try {
        return rowsOf(client.singleUse().executeQuery(Statement.of(sql)));
      } finally {
        context.detach(before);
      }
    }

    String perform(JsonObject step) throws Exception {
      if (step.has("snapshot")) return snapshot(step.get("snapshot"));
      if (step.has("apply")) return apply(step);
      if (step.has("batch_write")) return batchWrite(step.get("batch_write"));
      if (step.has("partitioned")) {
        return "at least " + client.executePartitionedUpdate(Statement.of(step.get("partitioned").getAsString()));
      }
      if (step.has("analyze")) return analyze(step.get("analyze").getAsString(), QueryAnalyzeMode.PLAN);
      if (step.has("profile")) return analyze(step.get("profile").getAsString(), QueryAnalyzeMode.PROFILE);
      if (step.has("contended")) {
        Statement update = Statement.of(step.get("contended").getAsString());
        return together(step.get("times").getAsInt(), () -> run(transaction -> {
          transaction.executeUpdate(update);
          return null;
        }));
      }
      if (step.has("increments")) {
        return together(step.get("increments").getAsInt(), () -> run(this::increment));
      }
      if (step.has("ddl")) {
        spanner.getDatabaseAdminClient().updateDatabaseDdl(
            id.getInstanceId().getInstance(), id.getDatabase(), texts(step.get("ddl")), null).get();
        return "done";
      }
      if (step.has("get_ddl")) return schema(step.get("get_ddl").getAsString());
      if (step.has("many")) return many(step.get("many").getAsInt());
      if (step.has("hurried")) return hurried(step.get("hurried").getAsString());
      if (step.has("cancelled")) return cancelled(step.get("cancelled").getAsString());
      try (ReadContext reader = client.singleUse(boundOf(step))) {
        return ask(step, reader);
      }
    }

    String play(JsonObject step) {
      if (step.has("transaction")) return transaction(step, all(step.get("transaction")));
      if (step.has("dml") || step.has("returning") || step.has("batch")) return transaction(step, List.of(step));
      return outcome(() -> perform(step));
    }
  }

  /** Makes the instance, unless it is there, and the database. */
  static void create(Spanner spanner, DatabaseId id, JsonElement ddl) throws Exception {
    InstanceId instance = id.getInstanceId();
    var configuration = InstanceConfigId.of(instance.getProject(), "emulator-config");
    try {
      spanner.getInstanceAdminClient().createInstance(InstanceInfo.newBuilder(instance)
          .setInstanceConfigId(configuration).setDisplayName("i").setNodeCount(1).build()).get();
    } catch (java.util.concurrent.ExecutionException error) {
      SpannerException cause = SpannerExceptionFactory.asSpannerException(error.getCause());
      if (cause.getErrorCode() != ErrorCode.ALREADY_EXISTS) throw cause;
    }
    spanner.getDatabaseAdminClient().createDatabase(instance.getInstance(), id.getDatabase(), texts(ddl)).get();
  }

  public static void main(String[] arguments) throws Exception {
    JsonObject file = JsonParser.parseString(Files.readString(Path.of(arguments[0]))).getAsJsonObject();
    DatabaseId id = DatabaseId.of(arguments[1]);
    try (Spanner spanner =
        SpannerOptions.newBuilder().setProjectId(id.getInstanceId().getProject()).build().getService()) {
      create(spanner, id, file.get("ddl"));
      Player player = new Player(spanner, id);
      for (var entry : file.getAsJsonObject("cases").entrySet()) {
        if (arguments.length > 2 && !arguments[2].equals(entry.getKey())) continue;
        player.reset(file.get("rows"));
        List<String> ends = new ArrayList<>();
        for (JsonElement step : all(entry.getValue())) ends.add(player.play(step.getAsJsonObject()));
        System.out.println(entry.getKey() + ": " + String.join(" | ", ends));
      }
    }
  }
}
