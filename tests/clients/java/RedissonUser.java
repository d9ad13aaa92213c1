import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.Protocol;
import org.redisson.config.SingleServerConfig;

/** Redisson's locks: a class each. They have no call that extends; what extends is the watchdog. */
public class RedissonUser {
  private static final long WATCHDOG_MS = 3000;

  private final Protocol protocol;
  final List<RedissonClient> clients = new ArrayList<>();

  RedissonUser(Protocol protocol) {
    this.protocol = protocol;
  }

  public void open(List<InetSocketAddress> nodes) {
    for (InetSocketAddress node : nodes) {
      Config config = new Config();
      config.setProtocol(protocol).setLockWatchdogTimeout(WATCHDOG_MS);
      tell(config.useSingleServer()
          .setAddress("redis://" + node.getHostString() + ":" + node.getPort()));
      clients.add(Redisson.create(config));
    }
  }

  /** What a lock wants otherwise than by default. */
  void tell(SingleServerConfig settings) {}

  RLock lock(String name) {
    return clients.get(0).getLock(name);
  }

  public boolean acquire(String name, long ttlMs, long waitMs) throws InterruptedException {
    return lock(name).tryLock(waitMs, ttlMs, TimeUnit.MILLISECONDS);
  }

  public boolean release(String name) {
    try {
      lock(name).unlock();
      return true;
    } catch (IllegalMonitorStateException notHeld) {
      return false;
    }
  }

  static <T> T inOtherThread(Callable<T> work) throws Exception {
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      return other.submit(work).get(10, TimeUnit.SECONDS);
    } finally {
      other.shutdown();
    }
  }

  // --- what else most of them can do; each leaves nothing behind ---

  /** Without a lease a lock is extended for as long as its holder lives. */
  public void watchdog() throws Exception {
    RLock lock = lock("watched");
    lock.lock();
    Thread.sleep(WATCHDOG_MS * 3 / 2);
    Driver.check(!inOtherThread(() -> lock.tryLock()), "it ran out");
    lock.unlock();
    Driver.check(inOtherThread(() -> {
      boolean acquired = lock.tryLock();
      lock.unlock();
      return acquired;
    }), "not free after unlock()");
  }

  public void reentrance() throws Exception {
    RLock lock = lock("twice");
    lock.lock(5, TimeUnit.SECONDS);
    Driver.check(lock.tryLock(0, 5, TimeUnit.SECONDS), "its holder does not get it again");
    lock.unlock();
    Driver.check(!inOtherThread(() -> lock.tryLock()), "free after one of two unlock()");
    lock.unlock();
    Driver.check(inOtherThread(() -> {
      boolean acquired = lock.tryLock();
      lock.unlock();
      return acquired;
    }), "not free after both");
  }

  /** RLock: waits by pub/sub. */
  public static class Reentrant extends RedissonUser {
    Reentrant(Protocol protocol) {
      super(protocol);
    }

    public void state() throws Exception {
      RLock lock = lock("state");
      lock.lock(5, TimeUnit.SECONDS);
      Driver.check(lock.isLocked() && lock.isHeldByCurrentThread(), "not held");
      Driver.checkEqual(lock.getHoldCount(), 1);
      Driver.check(lock.remainTimeToLive() > 4000, "left: " + lock.remainTimeToLive());
      Driver.check(!inOtherThread(() -> lock.isHeldByCurrentThread()), "held by another thread");
      lock.unlock();
      Driver.check(!lock.isLocked(), "held after unlock()");
    }

    /** forceUnlock() wakes who waits. */
    public void force() throws Exception {
      RLock lock = lock("forced");
      lock.lock(5, TimeUnit.SECONDS);
      Future<Boolean> waiting = CompletableFuture.supplyAsync(() -> {
        try {
          return lock.tryLock(4, 4, TimeUnit.SECONDS);
        } catch (InterruptedException stopped) {
          return false;
        }
      });
      Thread.sleep(200);
      Driver.check(lock.forceUnlock(), "not forced");
      Driver.check(waiting.get(2, TimeUnit.SECONDS), "who waits did not wake");
      Driver.check(lock.forceUnlock(), "not forced");
    }

    public void async() throws Exception {
      RLock lock = lock("async");
      Driver.check(lock.tryLockAsync(0, 5, TimeUnit.SECONDS, 17).get(), "not acquired");
      Driver.check(!lock.tryLockAsync(0, 5, TimeUnit.SECONDS, 18).get(), "acquired twice");
      lock.unlockAsync(17).get();
      Driver.check(!lock.isLockedAsync().get(), "held after unlockAsync()");
    }
  }

  /** RFencedLock: each holder gets a number larger than those before. */
  public static final class Fenced extends RedissonUser {
    Fenced(Protocol protocol) {
      super(protocol);
    }

    @Override
    RFencedLock lock(String name) {
      return clients.get(0).getFencedLock(name);
    }

    @Override
    public boolean acquire(String name, long ttlMs, long waitMs) {
      return lock(name).tryLockAndGetToken(waitMs, ttlMs, TimeUnit.MILLISECONDS) != null;
    }

    public void tokens() {
      RFencedLock lock = lock("fenced");
      long last = 0;
      for (int holder = 0; holder < 5; ++holder) {
        long token = lock.lockAndGetToken(5, TimeUnit.SECONDS);
        lock.unlock();
        Driver.check(token > last, token + " after " + last);
        last = token;
      }
    }
  }

  /** The spin lock: asks again and again. */
  public static final class Spin extends RedissonUser {
    Spin(Protocol protocol) {
      super(protocol);
    }

    @Override
    RLock lock(String name) {
      return clients.get(0).getSpinLock(name);
    }
  }

  /** The multi lock: two locks as one. */
  public static final class Multi extends RedissonUser {
    Multi(Protocol protocol) {
      super(protocol);
    }

    @Override
    RLock lock(String name) {
      RedissonClient client = clients.get(0);
      return client.getMultiLock(client.getLock(name), client.getLock(name + "-too"));
    }

    /** Both or none. */
    public void all() throws Exception {
      RLock one = clients.get(0).getLock("multi-too");
      one.lock(5, TimeUnit.SECONDS);
      Driver.check(!inOtherThread(() -> lock("multi").tryLock()), "one of two is held");
      Driver.check(!clients.get(0).getLock("multi").isLocked(), "it left the other one held");
      one.unlock();
      RLock both = lock("multi");
      both.lock(5, TimeUnit.SECONDS);
      Driver.check(one.isLocked(), "not both are held");
      both.unlock();
      Driver.check(!one.isLocked(), "not both are released");
    }
  }

  /** RedissonRedLock, over all nodes. */
  public static final class Red extends RedissonUser {
    Red(Protocol protocol) {
      super(protocol);
    }

    @Override
    void tell(SingleServerConfig settings) {
      settings.setRetryAttempts(0);
    }

    @SuppressWarnings("deprecation") // in favour of a single node's RLock and RFencedLock
    @Override
    RLock lock(String name) {
      return new RedissonRedLock(
          clients.stream().map(client -> client.getLock(name)).toArray(RLock[]::new));
    }
  }

  /** RReadWriteLock; acquired for writing. */
  public static final class ReadWrite extends RedissonUser {
    ReadWrite(Protocol protocol) {
      super(protocol);
    }

    private RReadWriteLock both(String name) {
      return clients.get(0).getReadWriteLock(name);
    }

    @Override
    RLock lock(String name) {
      return both(name).writeLock();
    }

    /** Many read, and then none writes. */
    public void readers() throws Exception {
      RReadWriteLock lock = both("shared");
      lock.readLock().lock(5, TimeUnit.SECONDS);
      Driver.check(inOtherThread(() -> {
        boolean acquired = lock.readLock().tryLock(0, 5, TimeUnit.SECONDS);
        lock.readLock().unlock();
        return acquired;
      }), "a second reader is refused");
      Driver.check(!inOtherThread(() -> lock.writeLock().tryLock()), "writes while one reads");
      lock.readLock().unlock();
      Driver.check(inOtherThread(() -> {
        boolean acquired = lock.writeLock().tryLock(0, 5, TimeUnit.SECONDS);
        lock.writeLock().unlock();
        return acquired;
      }), "does not write although none reads");
    }
  }

  /** The fair lock. */
  public static final class Fair extends RedissonUser {
    Fair(Protocol protocol) {
      super(protocol);
    }

    @Override
    RLock lock(String name) {
      return clients.get(0).getFairLock(name);
    }
  }

  public static void main(String[] words) throws Exception {
    Protocol protocol = Protocol.valueOf(words[1]);
    Driver.serve(switch (words[0]) {
      case "Reentrant" -> new Reentrant(protocol);
      case "Fenced" -> new Fenced(protocol);
      case "Spin" -> new Spin(protocol);
      case "Multi" -> new Multi(protocol);
      case "Red" -> new Red(protocol);
      case "ReadWrite" -> new ReadWrite(protocol);
      case "Fair" -> new Fair(protocol);
      default -> throw new IllegalArgumentException("no lock: " + words[0]);
    });
  }
}
