import java.util.function.BooleanSupplier;

/** For what waits by asking again. */
final class Waiting {
  private static final long NANOS_PER_MS = 1_000_000;

  private Waiting() {}

  /** Asks at least once; whether it was true in time. */
  static boolean until(long waitMs, long retryMs, BooleanSupplier holds)
      throws InterruptedException {
    long end = System.nanoTime() + waitMs * NANOS_PER_MS;
    while (!holds.getAsBoolean()) {
      if (System.nanoTime() - end >= 0) {
        return false;
      }
      Thread.sleep(retryMs);
    }
    return true;
  }
}
