import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

/** ShedLock: it never waits, so who waits asks again. */
public final class ShedLockUser {
  private static final long RETRY_MS = 20;

  private final boolean safeUpdate;
  private final Map<String, SimpleLock> locks = new HashMap<>();
  private LockProvider provider;

  private ShedLockUser(boolean safeUpdate) {
    this.safeUpdate = safeUpdate;
  }

  public void open(List<InetSocketAddress> nodes) {
    provider = new RedisLockProvider.Builder(SpringLettuce.connections(nodes.get(0)))
        .environment("test").safeUpdate(safeUpdate).build();
  }

  private static LockConfiguration configuration(String name, long atMostMs, long atLeastMs) {
    return new LockConfiguration(
        Instant.now(), name, Duration.ofMillis(atMostMs), Duration.ofMillis(atLeastMs));
  }

  public boolean acquire(String name, long ttlMs, long waitMs) throws InterruptedException {
    return Waiting.until(waitMs, RETRY_MS, () -> {
      Optional<SimpleLock> lock = provider.lock(configuration(name, ttlMs, 0));
      lock.ifPresent(held -> locks.put(name, held));
      return lock.isPresent();
    });
  }

  public boolean extend(String name, long ttlMs) {
    Optional<SimpleLock> lock = locks.get(name).extend(Duration.ofMillis(ttlMs), Duration.ZERO);
    lock.ifPresent(held -> locks.put(name, held));
    return lock.isPresent();
  }

  public void release(String name) {
    locks.get(name).unlock();
  }

  // --- what else it can do ---

  /** As its scheduled tasks are run. */
  public void executor() {
    DefaultLockingTaskExecutor executor = new DefaultLockingTaskExecutor(provider);
    int[] runs = {0};
    executor.executeWithLock((Runnable) () -> {
      ++runs[0];
      executor.executeWithLock((Runnable) () -> ++runs[0], configuration("task", 5000, 0));
      Driver.check(provider.lock(configuration("task", 5000, 0)).isEmpty(), "acquired twice");
    }, configuration("task", 5000, 0));
    Driver.checkEqual(runs[0], 2);
  }

  /** A task that is done soon keeps its lock for a while: a front door frees it some 2 s later. */
  public void least() throws InterruptedException {
    provider.lock(configuration("least", 5000, 500)).orElseThrow().unlock();
    Driver.check(provider.lock(configuration("least", 5000, 0)).isEmpty(), "free at once");
    Driver.check(Waiting.until(4000, RETRY_MS, () -> {
      Optional<SimpleLock> lock = provider.lock(configuration("least", 5000, 0));
      lock.ifPresent(SimpleLock::unlock);
      return lock.isPresent();
    }), "not free after its least time");
  }

  public static void main(String[] words) throws Exception {
    Driver.serve(new ShedLockUser(Boolean.parseBoolean(words[0])));
  }
}
