// Package dynamo is the store on DynamoDB: endpoints, events, deliveries,
// attempts and API keys in one table.
//
// It knows how records are laid out and which condition guards each write; what
// the records mean is decided by its callers. Every write that decides something
// is conditional, every read is consistent except that of the index by_endpoint.
//
//	item               pk         sk                    written
//	tenant             tenant#T   tenant                with every change of an endpoint: version, number of endpoints
//	endpoint           tenant#T   endpoint#E            in a transaction with the tenant
//	uid                tenant#T   uid#U                 in that transaction: reserves the alias
//	event              event#V    event                 once
//	delivery           event#V    delivery#E#GGGG       per decision about it, version by version
//	attempt            event#V    attempt#E#GGGG#NNN    in a transaction with its delivery
//	API key            key#H      key                   once, H is the SHA-256 of the key
//	API key, listed    keys       key#K                 in a transaction with the key
//
// Deliveries are also in the index by_endpoint, whose range key
// <state>#<created>#<delivery id> lists an endpoint's deliveries by state and time.
//
// Events, deliveries and attempts carry the TTL attribute expires_at. DynamoDB
// removes them up to some days later; until then they are read as they are.
package dynamo
