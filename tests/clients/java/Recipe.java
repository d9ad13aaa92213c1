import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/**
 * The single-node recipe of Redis's own pages, for clients that bring no lock of their own: SET NX
 * PX, and scripts that compare the value before they extend or release.
 */
abstract class Recipe {
  static final String EXTEND = "if redis.call(\"get\",KEYS[1]) == ARGV[1] then "
      + "return redis.call(\"pexpire\",KEYS[1],ARGV[2]) else return 0 end";
  static final String RELEASE = "if redis.call(\"get\",KEYS[1]) == ARGV[1] then "
      + "return redis.call(\"del\",KEYS[1]) else return 0 end";
  private static final long RETRY_MS = 20;

  private final Map<String, String> values = new HashMap<>();

  /** SET name value NX PX ttlMs: whether it was set. */
  abstract boolean set(String name, String value, long ttlMs);

  /** What the script answers. */
  abstract long script(String text, String name, String... arguments);

  public boolean acquire(String name, long ttlMs, long waitMs) throws InterruptedException {
    String value = UUID.randomUUID().toString();
    boolean acquired = Waiting.until(waitMs, RETRY_MS, () -> set(name, value, ttlMs));
    if (acquired) {
      values.put(name, value);
    }
    return acquired;
  }

  public boolean extend(String name, long ttlMs) {
    return script(EXTEND, name, values.get(name), Long.toString(ttlMs)) == 1;
  }

  public boolean release(String name) {
    return script(RELEASE, name, values.get(name)) == 1;
  }
}
