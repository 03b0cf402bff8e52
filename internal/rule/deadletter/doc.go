// Package deadletter says why deliveries died and what would help: it puts dead
// letters into groups of one endpoint, class and status, recognises each group's
// pattern, and makes one suggestion for it. It knows no clock and no store.
//
// The first row that applies decides:
//
//	class                          condition                            pattern      what would help
//	none                           expired before the first attempt     expired      max_age, or resume the endpoint
//	gone                                                                gone         url, or delete the endpoint
//	tls                                                                 tls          the certificate
//	blocked                                                             blocked      url
//	redirect                                                            redirect     url
//	refused                        status 401 or 403                    credentials  the secret, or headers
//	refused                        any other status                     refused      url, event_types
//	throttled                                                           throttled    rate_per_second, max_age
//	dns, connect, reset, timeout,  5 letters or more, and 80 % of them  outage       replay; retry, or max_age if
//	unavailable                    or more died within one hour                      most expired
//	the same                       most of them expired                 expired      max_age
//	dns, connect                   neither                              down         url, or pause the endpoint
//	reset, timeout, unavailable    neither                              trickle      retry; timeout
//	anything else                                                       unknown
//
// An hour is twelve consecutive slots of five minutes of the clock: deaths that
// are at most 55 minutes apart always share one, deaths that are an hour apart
// never do.
//
// Memory is bounded for every group, whatever its letters say: see tally for
// what that costs in exactness.
package deadletter
