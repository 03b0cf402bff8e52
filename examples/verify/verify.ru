# gem install rackup webrick; in Rails: request.raw_post and request.headers
require "base64"
require "openssl"

KEY = Base64.decode64(ENV.fetch("WEBHOOK_SECRET").delete_prefix("whsec_"))

# The signature covers the exact bytes of the body.
def valid?(body, id, time, signatures)
  return false if (Time.now.to_i - time.to_i).abs > 300 # a repeated old request

  expected = "v1," + Base64.strict_encode64(OpenSSL::HMAC.digest("SHA256", KEY, "#{id}.#{time}.#{body}"))
  signatures.split.any? { |signature| OpenSSL.secure_compare(expected, signature) } # two while a secret is rotated
end

run lambda { |env|
  id, time, signatures = %w[ID TIMESTAMP SIGNATURE].map { |name| env["HTTP_WEBHOOK_#{name}"].to_s }
  body = env["rack.input"].read.b
  next [401, {}, []] unless valid?(body, id, time, signatures)

  # Store the event, unless you know its webhook-id already. Then answer.
  puts id, body
  [204, {}, []]
}
