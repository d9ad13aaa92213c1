import io.lettuce.core.ClientOptions;
import java.net.InetSocketAddress;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Spring Data's connections, over Lettuce. */
final class SpringLettuce {
  private SpringLettuce() {}

  static LettuceConnectionFactory connections(InetSocketAddress node) {
    LettuceConnectionFactory connections = new LettuceConnectionFactory(
        new RedisStandaloneConfiguration(node.getHostString(), node.getPort()),
        LettuceClientConfiguration.builder().clientOptions(ClientOptions.builder()
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .build()).build());
    connections.afterPropertiesSet();
    connections.start();
    Driver.checkEqual(connections.getConnection().ping(), "PONG");
    return connections;
  }
}
