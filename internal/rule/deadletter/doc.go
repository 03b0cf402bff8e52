// Package deadletter analyzes dead letters. It groups them by endpoint, class and status,
// recognizes the pattern of each group, and makes one suggestion per group. It knows no
// clock and no store.
//
// # Patterns
//
// The first matching row decides:
//
//	class                          condition                            pattern      suggestion
//	none                           expired before the first attempt     expired      max_age, or resume the endpoint
//	gone                                                                gone         url, or delete the endpoint
//	tls                                                                 tls          the certificate
//	blocked                                                             blocked      url
//	redirect                                                            redirect     url
//	refused                        status 401 or 403                    credentials  the secret, or headers
//	token                                                               credentials  auth
//	refused                        any other status                     refused      url, event_types
//	throttled                                                           throttled    rate_per_second, max_age
//	dns, connect, reset, timeout,  80 % of the letters or more died     outage       replay; retry, or max_age if
//	unavailable                    less than an hour apart, also one                  most expired
//	the same                       most of them expired                 expired      max_age
//	dns, connect                   neither                              down         url, or pause the endpoint
//	reset, timeout, unavailable    neither                              trickle      retry; timeout
//	anything else                                                       unknown
package deadletter
