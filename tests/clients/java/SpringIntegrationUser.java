import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.List;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Spring Integration's RedisLockRegistry, of either type. */
public final class SpringIntegrationUser {
  private static final String REGISTRY = "registry";

  private final RedisLockType type;
  private LettuceConnectionFactory connections;
  private RedisLockRegistry registry;

  private SpringIntegrationUser(RedisLockType type) {
    this.type = type;
  }

  public void open(List<InetSocketAddress> nodes) {
    connections = SpringLettuce.connections(nodes.get(0));
    registry = newRegistry();
  }

  private RedisLockRegistry newRegistry() {
    RedisLockRegistry made = new RedisLockRegistry(connections, REGISTRY, Duration.ofSeconds(5));
    made.setRedisLockType(type);
    return made;
  }

  public boolean acquire(String name, long ttlMs, long waitMs) throws InterruptedException {
    return registry.obtain(name).tryLock(Duration.ofMillis(waitMs), Duration.ofMillis(ttlMs));
  }

  public boolean extend(String name, long ttlMs) {
    try {
      registry.renewLock(name, Duration.ofMillis(ttlMs));
      return true;
    } catch (IllegalStateException notHeld) {
      return false;
    }
  }

  public boolean release(String name) {
    try {
      registry.obtain(name).unlock();
      return true;
    } catch (ConcurrentModificationException | IllegalStateException notHeld) {
      return false;
    }
  }

  // --- what else it can do ---

  /** Renews by itself while it is held. */
  public void renewal() throws InterruptedException {
    ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
    scheduler.initialize();
    RedisLockRegistry renewing = newRegistry();
    renewing.setRenewalTaskScheduler(scheduler);
    DistributedLock lock = renewing.obtain("renewed");
    Driver.check(lock.tryLock(Duration.ZERO, Duration.ofMillis(3000)), "not acquired");
    Thread.sleep(4500);
    Driver.check(!registry.obtain("renewed").tryLock(), "it ran out");
    lock.unlock();
    Driver.check(registry.obtain("renewed").tryLock(), "not free after unlock()");
    registry.obtain("renewed").unlock();
    renewing.destroy();
    scheduler.shutdown();
  }

  public void reentrance() {
    DistributedLock lock = registry.obtain("twice");
    RedisLockRegistry other = newRegistry();
    lock.lock();
    Driver.check(lock.tryLock(), "its holder does not get it again");
    lock.unlock();
    Driver.check(!other.obtain("twice").tryLock(), "free after one of two unlock()");
    lock.unlock();
    Driver.check(other.obtain("twice").tryLock(), "not free after both");
    other.obtain("twice").unlock();
    other.destroy();
  }

  public void block() throws Exception {
    int[] runs = {0};
    registry.executeLocked("block", () -> {
      ++runs[0];
    });
    Driver.checkEqual(runs[0], 1);
  }

  public static void main(String[] words) throws Exception {
    Driver.serve(new SpringIntegrationUser(RedisLockType.valueOf(words[0])));
  }
}
