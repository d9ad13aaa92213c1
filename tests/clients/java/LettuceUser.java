import io.lettuce.core.ClientOptions;
import io.lettuce.core.CompareCondition;
import io.lettuce.core.GetExArgs;
import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.io.File;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;

/** Lettuce: one connection over one node. */
public final class LettuceUser extends Recipe {
  private final ProtocolVersion protocol;
  private RedisClient client;
  private StatefulRedisConnection<String, String> connection;
  private RedisCommands<String, String> redis;

  private LettuceUser(ProtocolVersion protocol) {
    this.protocol = protocol;
  }

  public void open(List<InetSocketAddress> nodes) {
    boolean isTls = System.getenv("CLIENT_TLS_CA") != null;
    RedisURI.Builder node = RedisURI.builder().withHost(nodes.get(0).getHostString())
        .withPort(nodes.get(0).getPort()).withSsl(isTls);
    String user = System.getenv("CLIENT_USER");
    if (user != null) {
      node.withAuthentication(user, System.getenv("CLIENT_PASSWORD"));
    }
    client = RedisClient.create(node.build());
    ClientOptions.Builder options = ClientOptions.builder().protocolVersion(protocol)
        .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS);
    client.setOptions((isTls ? options.sslOptions(tls()) : options).build());
    connection = client.connect();
    redis = connection.sync();
    Driver.checkEqual(redis.ping(), "PONG");
  }

  private static SslOptions tls() {
    return SslOptions.builder()
        .trustManager(new File(System.getenv("CLIENT_TLS_CA")))
        .keyManager(new File(System.getenv("CLIENT_TLS_CERT")),
            new File(System.getenv("CLIENT_TLS_KEY")), new char[0])
        .build();
  }

  @Override
  boolean set(String name, String value, long ttlMs) {
    return redis.set(name, value, SetArgs.Builder.nx().px(ttlMs)) != null;
  }

  @Override
  long script(String text, String name, String... arguments) {
    Long reply = redis.eval(text, ScriptOutputType.INTEGER, new String[] {name}, arguments);
    return reply;
  }

  // --- what else it can do; each leaves nothing behind ---

  public void pipeline() throws Exception {
    RedisAsyncCommands<String, String> async = connection.async();
    connection.setAutoFlushCommands(false);
    RedisFuture<String> set = async.psetex("p", 5000, "1");
    RedisFuture<Long> incremented = async.incr("p");
    RedisFuture<Long> deleted = async.del("p");
    connection.flushCommands();
    connection.setAutoFlushCommands(true);
    Driver.checkEqual(List.of(set.get(5, TimeUnit.SECONDS), incremented.get(5, TimeUnit.SECONDS),
        deleted.get(5, TimeUnit.SECONDS)), List.of("OK", 2L, 1L));
  }

  public void transaction() {
    redis.multi();
    redis.psetex("t", 5000, "1");
    redis.get("t");
    redis.del("t");
    TransactionResult result = redis.exec();
    Driver.checkEqual(result.stream().toList(), List.of("OK", "1", 1L));
  }

  public void watch() {
    redis.psetex("w", 5000, "1");
    redis.watch("w");
    try (StatefulRedisConnection<String, String> other = client.connect()) {
      other.sync().psetex("w", 5000, "2");
    }
    redis.multi();
    redis.get("w");
    Driver.check(redis.exec().wasDiscarded(), "EXEC although the watched key changed");
    Driver.checkEqual(redis.del("w"), 1L);
  }

  public void evalsha() {
    redis.psetex("sha", 5000, "mine");
    String sha = redis.scriptLoad(RELEASE);
    Driver.checkEqual(
        redis.<Long>evalsha(sha, ScriptOutputType.INTEGER, new String[] {"sha"}, "other"), 0L);
    Driver.checkEqual(
        redis.<Long>evalsha(sha, ScriptOutputType.INTEGER, new String[] {"sha"}, "mine"), 1L);
  }

  /** The native forms of compare and set, compare and delete. */
  public void compare() {
    redis.psetex("c", 5000, "mine");
    SetArgs ifOther = SetArgs.Builder.compareCondition(CompareCondition.valueEq("other")).px(9000);
    SetArgs ifMine = SetArgs.Builder.compareCondition(CompareCondition.valueEq("mine")).px(9000);
    Driver.check(redis.set("c", "mine", ifOther) == null, "IFEQ of another value");
    Driver.checkEqual(redis.set("c", "mine", ifMine), "OK");
    Driver.check(redis.pttl("c") > 5000, "not extended");
    Driver.checkEqual(redis.delex("c", CompareCondition.valueEq("other")), 0L);
    Driver.checkEqual(redis.delex("c", CompareCondition.valueEq("mine")), 1L);
  }

  public void scan() {
    Set<String> names = new TreeSet<>();
    for (int number = 0; number < 50; ++number) {
      names.add("scan-" + number);
    }
    names.forEach(name -> redis.psetex(name, 5000, "v"));
    Set<String> found = new TreeSet<>();
    ScanIterator.scan(redis, ScanArgs.Builder.matches("scan-*").limit(7))
        .forEachRemaining(found::add);
    Driver.checkEqual(found, names);
    Driver.checkEqual(redis.unlink(names.toArray(new String[0])), 50L);
  }

  public void hash() {
    Driver.checkEqual(redis.hset("h", Map.of("a", "1", "b", "2")), 2L);
    redis.pexpire("h", 5000);
    Driver.checkEqual(redis.hincrby("h", "a", 4), 5L);
    Driver.checkEqual(redis.hgetall("h"), Map.of("a", "5", "b", "2"));
    Driver.checkEqual(redis.hdel("h", "a", "b"), 2L);
    Driver.checkEqual(redis.exists("h"), 0L);
  }

  public void strings() {
    Driver.checkEqual(redis.mset(Map.of("s1", "v", "s2", "w")), "OK");
    Driver.checkEqual(redis.mget("s1", "s2", "none"), List.of(KeyValue.just("s1", "v"),
        KeyValue.just("s2", "w"), KeyValue.empty("none")));
    Driver.checkEqual(redis.getex("s1", GetExArgs.Builder.px(5000)), "v");
    Driver.checkEqual(redis.getdel("s1"), "v");
    Driver.checkEqual(redis.unlink("s1", "s2"), 1L);
  }

  public void pubsub() throws InterruptedException {
    Set<String> said = new ConcurrentSkipListSet<>();
    try (StatefulRedisPubSubConnection<String, String> listener = client.connectPubSub()) {
      listener.addListener(new RedisPubSubAdapter<String, String>() {
        @Override
        public void message(String channel, String message) {
          said.add(channel + ": " + message);
        }

        @Override
        public void message(String pattern, String channel, String message) {
          said.add(pattern + ": " + message);
        }
      });
      listener.sync().subscribe("news");
      listener.sync().psubscribe("n?ws");
      Driver.checkEqual(redis.publish("news", "hello"), 2L);
      Driver.check(Waiting.until(5000, 20,
          () -> said.equals(Set.of("news: hello", "n?ws: hello"))), "heard " + said);
      listener.sync().unsubscribe("news");
      listener.sync().punsubscribe("n?ws");
      Driver.checkEqual(redis.publish("news", "hello"), 0L);
    }
  }

  public static void main(String[] words) throws Exception {
    Driver.serve(new LettuceUser(ProtocolVersion.valueOf(words[0])));
  }
}
