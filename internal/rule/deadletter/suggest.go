package deadletter

import "surehook.example/surehook/internal/hook"

// suggest returns advice for the owner of the endpoint: the cause, and the API field
// to change.
func suggest(g Group) string {
	switch g.Pattern {
	case PatternOutage:
		if g.Reason == hook.ReasonExpired {
			return "At least 80 % of the deaths are within one hour: the endpoint was down until the deliveries were older than its max_age. " +
				"Replay these once it answers again, and raise max_age to outlast the next outage."
		}
		return "At least 80 % of the deaths are within one hour: the endpoint was down for longer than its retry policy lasts. " +
			"Replay these once it answers again, and give retry more attempts or longer delays to outlast the next outage."
	case PatternDown:
		return "The endpoint cannot be reached, and not in one outage only. " +
			"Check the host and port in url and that the receiver runs, or pause the endpoint until it does; then replay these."
	case PatternTrickle:
		if g.Class == hook.ClassTimeout {
			return "The endpoint is too slow now and then: let it answer first and work later. " +
				"Give retry more attempts, and lower timeout so that a stuck attempt ends sooner; then replay these."
		}
		return "The endpoint fails now and then, and not in one outage. Give retry more attempts or longer delays, then replay these."
	case PatternExpired:
		if g.Class == 0 {
			return "These had no attempt: they waited, parked or behind rate_per_second, for longer than max_age. " +
				"Resume or enable the endpoint, or raise max_age; then replay them."
		}
		return "These were older than max_age before their retries were over. " +
			"Raise max_age above what the retry policy and the longest outage or pause take together, then replay them."
	case PatternCredentials:
		if g.Class == hook.ClassToken {
			return "The token endpoint of auth gives no access token, or AWS denies the role of destination. The errors of the attempts name the answer. " +
				"Correct token_url, client_id, client_secret, scope or audience in auth, or the role and the policies; then replay these."
		}
		return "The endpoint does not accept the sender: its credentials were probably rotated. " +
			"Correct the credentials in auth or headers, or rotate the secret and hand it over; then replay these."
	case PatternThrottled:
		return "The endpoint receives more requests than it accepts. Lower rate_per_second to its limit, or raise max_age and the attempts of retry; then replay these."
	case PatternRefused:
		return "The endpoint refuses the requests: its contract has probably changed. " +
			"Compare an event with the contract of the receiver and correct url or event_types; then replay these."
	case PatternGone:
		return "The endpoint answered 410 Gone and was disabled. If it moved, set url, enable it and replay these; if not, delete it."
	case PatternTLS:
		return "The endpoint's certificate cannot be verified, or there is no common TLS version. " +
			"Renew or complete the certificate for the host in url, offer TLS 1.2 or newer, and replay these."
	case PatternBlocked:
		return "The URL leads to a forbidden address or port, such as a private address. Set url to a public host, then replay these."
	case PatternRedirect:
		return "The endpoint answers with a redirect, and Surehook does not follow this redirect. Set url to the target of the redirect, then replay these."
	case PatternTransformation:
		return "The endpoint's transformation cannot shape these events. The errors of the attempts name the problem. " +
			"Correct transformation, try it with a preview of one of these events, and replay them."
	}
	return "No rule matches this pattern: inspect the attempts of these deliveries."
}
