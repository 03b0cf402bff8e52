// Package dynamo is the store on DynamoDB: endpoints, their circuits, limits
// and counts, events, deliveries, attempts, replay jobs and API keys in one table.
//
// It knows how records are laid out and which condition guards each write; what
// the records mean is decided by its callers. Every write that decides something
// is conditional or adds to a counter, every read is consistent except those of
// the indexes, whose rows are checked against their records.
//
//	item               pk         sk                    written
//	tenant             tenant#T   tenant                with every change of an endpoint: version, number of endpoints
//	endpoint           tenant#T   endpoint#E            in a transaction with the tenant
//	uid                tenant#T   uid#U                 in that transaction: reserves the alias
//	circuit            endpoint#E circuit               per decision about it, version by version; none: closed, never failed
//	limits             endpoint#E limits                per decision about them, version by version; only of endpoints that have some
//	stats              endpoint#E stats#HHHH            one addition per batch; HHHH is the UTC hour, attributes count per minute
//	event              event#V    event                 once
//	delivery           event#V    delivery#E#GGGG       per decision about it, version by version
//	attempt            event#V    attempt#E#GGGG#NNN    in a transaction with its delivery
//	replay job         tenant#T   replay#R              per page of it, version by version
//	tally              job#R      tally#NNNNNN          one addition per settled delivery of the job, 100 of them to an item
//	API key            key#H      key                   once, H is the SHA-256 of the key
//	API key, listed    keys       key#K                 in a transaction with the key
//
// Deliveries are also in the index by_endpoint, whose range key
// <state>#<created>#<delivery id> lists an endpoint's deliveries by state and time.
//
// Circuits that are to be attended to are also in the index by_state, whose
// range key <when>#<endpoint> lists them by time; the others have no key of it.
//
// Events, deliveries, attempts, limits, stats, jobs and tallies carry the TTL
// attribute expires_at. DynamoDB removes them up to some days later; until then they are
// read as they are. Circuits stay: there is at most one per endpoint, and its
// generation must not go back.
package dynamo
