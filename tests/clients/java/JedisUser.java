import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.params.GetExParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.util.CompareCondition;

/** Jedis: its pooled client, over one node. */
public final class JedisUser extends Recipe {
  private final RedisProtocol protocol;
  private RedisClient client;

  private JedisUser(RedisProtocol protocol) {
    this.protocol = protocol;
  }

  public void open(List<InetSocketAddress> nodes) {
    client = RedisClient.builder()
        .hostAndPort(new HostAndPort(nodes.get(0).getHostString(), nodes.get(0).getPort()))
        .clientConfig(DefaultJedisClientConfig.builder().protocol(protocol).build())
        .build();
    Driver.checkEqual(client.ping(), "PONG");
  }

  @Override
  boolean set(String name, String value, long ttlMs) {
    return client.set(name, value, SetParams.setParams().nx().px(ttlMs)) != null;
  }

  @Override
  long script(String text, String name, String... arguments) {
    return (Long) client.eval(text, List.of(name), List.of(arguments));
  }

  // --- what else it can do; each leaves nothing behind ---

  public void pipeline() {
    try (Pipeline pipe = client.pipelined()) {
      Response<String> set = pipe.set("p", "1", SetParams.setParams().px(5000));
      Response<Long> incremented = pipe.incr("p");
      Response<Long> deleted = pipe.del("p");
      pipe.sync();
      Driver.checkEqual(List.of(set.get(), incremented.get(), deleted.get()), List.of("OK", 2L, 1L));
    }
  }

  public void transaction() {
    try (AbstractTransaction transaction = client.multi()) {
      transaction.set("t", "1", SetParams.setParams().px(5000));
      Response<String> found = transaction.get("t");
      transaction.del("t");
      Driver.checkEqual(transaction.exec().size(), 3);
      Driver.checkEqual(found.get(), "1");
    }
  }

  public void watch() {
    client.psetex("w", 5000, "1");
    try (AbstractTransaction transaction = client.transaction(false)) {
      transaction.watch("w");
      client.psetex("w", 5000, "2");
      transaction.multi();
      transaction.get("w");
      Driver.check(transaction.exec() == null, "EXEC although the watched key changed");
    }
    Driver.checkEqual(client.del("w"), 1L);
  }

  public void evalsha() {
    client.psetex("sha", 5000, "mine");
    String sha = client.scriptLoad(RELEASE);
    Driver.checkEqual(client.evalsha(sha, List.of("sha"), List.of("other")), 0L);
    Driver.checkEqual(client.evalsha(sha, List.of("sha"), List.of("mine")), 1L);
  }

  /** The native forms of compare and set, compare and delete. */
  public void compare() {
    client.psetex("c", 5000, "mine");
    SetParams ifOther = SetParams.setParams().condition(CompareCondition.valueEq("other")).px(9000);
    SetParams ifMine = SetParams.setParams().condition(CompareCondition.valueEq("mine")).px(9000);
    Driver.check(client.set("c", "mine", ifOther) == null, "IFEQ of another value");
    Driver.checkEqual(client.set("c", "mine", ifMine), "OK");
    Driver.check(client.pttl("c") > 5000, "not extended");
    Driver.checkEqual(client.delex("c", CompareCondition.valueEq("other")), 0L);
    Driver.checkEqual(client.delex("c", CompareCondition.valueEq("mine")), 1L);
  }

  public void scan() {
    Set<String> names = new TreeSet<>();
    for (int number = 0; number < 50; ++number) {
      names.add("scan-" + number);
    }
    names.forEach(name -> client.psetex(name, 5000, "v"));
    Driver.checkEqual(client.scanIteration(7, "scan-*").collect(new TreeSet<>()), names);
    Driver.checkEqual(client.unlink(names.toArray(new String[0])), 50L);
  }

  public void hash() {
    Driver.checkEqual(client.hset("h", Map.of("a", "1", "b", "2")), 2L);
    client.pexpire("h", 5000);
    Driver.checkEqual(client.hincrBy("h", "a", 4), 5L);
    Driver.checkEqual(client.hgetAll("h"), Map.of("a", "5", "b", "2"));
    Driver.checkEqual(client.hdel("h", "a", "b"), 2L);
    Driver.check(!client.exists("h"), "an empty hash is there");
  }

  public void strings() {
    Driver.checkEqual(client.mset("s1", "v", "s2", "w"), "OK");
    List<String> wanted = new ArrayList<>(Arrays.asList("v", "w", null));
    Driver.checkEqual(client.mget("s1", "s2", "none"), wanted);
    Driver.checkEqual(client.getEx("s1", new GetExParams().px(5000)), "v");
    Driver.checkEqual(client.getDel("s1"), "v");
    Driver.checkEqual(client.unlink("s1", "s2"), 1L);
  }

  public void pubsub() throws InterruptedException {
    Heard heard = new Heard();
    Thread listener = new Thread(() -> client.subscribe(heard, "news"));
    listener.start();
    boolean all = Waiting.until(5000, 20, () -> heard.isSubscribed()
        && heard.said.contains("subscribed") && client.publish("news", "hello") == 1
        && heard.said.contains("news: hello"));
    heard.unsubscribe();
    listener.join();
    Driver.check(all, "heard " + heard.said);
  }

  public void patterns() throws InterruptedException {
    Heard heard = new Heard();
    Thread listener = new Thread(() -> client.psubscribe(heard, "n?ws"));
    listener.start();
    boolean all = Waiting.until(5000, 20, () -> heard.said.contains("subscribed")
        && client.publish("news", "hello") == 1 && heard.said.contains("n?ws: hello"));
    heard.punsubscribe();
    listener.join();
    Driver.check(all, "heard " + heard.said);
  }

  private static final class Heard extends JedisPubSub {
    final Set<String> said = new ConcurrentSkipListSet<>();

    @Override
    public void onSubscribe(String channel, int count) {
      said.add("subscribed");
    }

    @Override
    public void onPSubscribe(String pattern, int count) {
      said.add("subscribed");
    }

    @Override
    public void onMessage(String channel, String message) {
      said.add(channel + ": " + message);
    }

    @Override
    public void onPMessage(String pattern, String channel, String message) {
      said.add(pattern + ": " + message);
    }
  }

  public static void main(String[] words) throws Exception {
    Driver.serve(new JedisUser(RedisProtocol.valueOf(words[0])));
  }
}
