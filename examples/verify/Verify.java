import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Verify {
  static final byte[] KEY = Base64.getDecoder().decode(System.getenv("WEBHOOK_SECRET").replaceFirst("^whsec_", ""));

  // The signature covers the exact bytes of the body.
  static boolean valid(byte[] body, Headers headers) throws Exception {
    String id = headers.getFirst("webhook-id");
    String time = headers.getFirst("webhook-timestamp");
    String signatures = headers.getFirst("webhook-signature");
    if (id == null || signatures == null || time == null || !time.matches("\\d{1,12}")) return false;
    if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(time)) > 300) return false; // a repeated old request
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(KEY, "HmacSHA256"));
    mac.update((id + "." + time + ".").getBytes());
    byte[] expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes();
    for (String signature : signatures.split(" ")) { // two while a secret is rotated
      if (MessageDigest.isEqual(expected, signature.getBytes())) return true;
    }
    return false;
  }

  public static void main(String[] args) throws Exception {
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))), 0);
    server.createContext("/webhooks", exchange -> {
      int status = 500; // sent again later
      try (exchange) {
        byte[] body = exchange.getRequestBody().readAllBytes();
        status = valid(body, exchange.getRequestHeaders()) ? 204 : 401;
        // Store the event, unless you know its webhook-id already. Then answer.
        exchange.sendResponseHeaders(status, -1);
      } catch (Exception e) {
        exchange.sendResponseHeaders(status, -1);
      }
    });
    server.start();
  }
}
