import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import redis.clients.jedis.RedisClient;

/** Report PORT URL TEXT: writes a report under a lock of the front door at PORT. */
public final class Report {
  public static void main(String[] words) throws Exception {
    RedisClient door = RedisClient.create("localhost", Integer.parseInt(words[0]));
    String value = UUID.randomUUID().toString(); // ours alone
    List<?> told = (List<?>) door.sendCommand(() -> "LOCK.ACQUIRE".getBytes(),
        "report", value, "PX", "30000", "WAIT", "10000");
    if ((Long) told.get(0) == 0) throw new IllegalStateException("another writes the report");
    try {
      HttpRequest request = HttpRequest.newBuilder(URI.create(words[1]))
          .header("Fencing-Token", told.get(1).toString())
          .PUT(HttpRequest.BodyPublishers.ofString(words[2])).build();
      int status = HttpClient.newHttpClient()
          .send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
      if (status >= 300) throw new IllegalStateException("not written: " + status);
      System.out.println("written under token " + told.get(1));
    } finally {
      door.sendCommand(() -> "LOCK.RELEASE".getBytes(), "report", value);
      door.close();
    }
  }
}
