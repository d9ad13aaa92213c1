import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What the Java drivers share: the protocol of tests/clients/contender.py.
 *
 * <pre>
 *   class User {
 *     public void open(List&lt;InetSocketAddress> nodes)
 *     public boolean acquire(String name, long ttlMs, long waitMs)
 *     public boolean extend(String name, long ttlMs)
 *     public boolean release(String name)
 *     public void pipeline()     // any other public method is a feature
 *   }
 *   Driver.serve(new User());
 * </pre>
 *
 * An answer is "no" for false, "error" for what was thrown, else "yes". All is asked from one
 * thread, as libraries tell holders by their thread.
 */
final class Driver {
  private static final double NANOS_PER_MS = 1e6;

  private final Object user;

  private Driver(Object user) {
    this.user = user;
  }

  static void serve(Object user) throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err); // what a library prints must not get between the answers
    Driver driver = new Driver(user);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      answers.println("= " + driver.answer(line.split(" ")));
      answers.flush();
    }
    Runtime.getRuntime().halt(0); // threads that the library keeps must not keep the driver
  }

  private String answer(String[] words) throws ReflectiveOperationException {
    Method method = method(words[0]);
    Object[] values = values(words);
    long started = System.nanoTime();
    String word;
    String text = "";
    try {
      word = Boolean.FALSE.equals(method.invoke(user, values)) ? "no" : "yes";
    } catch (InvocationTargetException thrown) {
      word = "error";
      text = tell(thrown.getCause());
    }
    double tookMs = (System.nanoTime() - started) / NANOS_PER_MS;
    if (words[0].equals("open") && word.equals("yes")) {
      warmUp();
      text = knownWords();
    }
    return String.format(Locale.ROOT, "%s %.3f %s", word, tookMs, text);
  }

  /** A first call loads hundreds of classes, which is no part of what is measured later. */
  private void warmUp() throws ReflectiveOperationException {
    String name = "warm-up-" + ProcessHandle.current().pid();
    try {
      method("acquire").invoke(user, name, 1000L, 0L);
      method("release").invoke(user, name);
    } catch (InvocationTargetException refused) {
      System.err.println("warm-up: " + tell(refused.getCause()));
    }
  }

  private Method method(String word) {
    return Arrays.stream(user.getClass().getMethods())
        .filter(method -> method.getName().equals(word))
        .findFirst().orElseThrow(() -> new IllegalArgumentException("no word: " + word));
  }

  private static Object[] values(String[] words) {
    if (words[0].equals("open")) {
      return new Object[] {Arrays.stream(words).skip(1).map(Driver::address).toList()};
    }
    List<Object> values = new ArrayList<>();
    for (int index = 1; index < words.length; ++index) {
      values.add(index == 1 ? words[index] : (Object) Long.valueOf(words[index]));
    }
    return values.toArray();
  }

  private static InetSocketAddress address(String text) {
    String[] parts = text.split(":");
    return InetSocketAddress.createUnresolved(parts[0], Integer.parseInt(parts[1]));
  }

  private String knownWords() {
    return Arrays.stream(user.getClass().getMethods())
        .filter(method -> method.getDeclaringClass() != Object.class)
        .filter(method -> !Modifier.isStatic(method.getModifiers()))
        .map(Method::getName).filter(name -> !name.equals("open"))
        .distinct().sorted().collect(Collectors.joining(" "));
  }

  /** What was thrown, and what that was caused by in the end, where it does not say so itself. */
  private static String tell(Throwable thrown) {
    Throwable cause = thrown;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String text = named(thrown);
    if (cause.getMessage() != null && !text.contains(cause.getMessage())) {
      text += "; caused by " + named(cause);
    }
    return text.replaceAll("\\s+", " ");
  }

  private static String named(Throwable thrown) {
    return thrown.getClass().getSimpleName() + ": " + thrown.getMessage();
  }

  // --- for features ---

  static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }

  static void checkEqual(Object found, Object wanted) {
    check(wanted.equals(found), "found " + found + ", wanted " + wanted);
  }
}
