// Package dynamo stores endpoints, circuits, limits, counts, events, deliveries,
// attempts, replay jobs, notifications, changes, API keys, portal links, data keys and
// event types in one DynamoDB table.
//
// The package knows the layout of records and the condition of each write.
// Callers decide the meaning of records. The contract of each method of [Store]
// is documented at the ports in internal/delivery and internal/admin; comments
// here add requests, limits and consistency of DynamoDB.
//
// # Table
//
// All keys and indexes of the table are listed here and built in keys.go. Items
// that grow with traffic are in the partition of an event, of an endpoint, or of a
// shard of an endpoint. The partition of a tenant has the version, the limits, the
// data key, the list of endpoints, uids, jobs and portal links.
//
//	item               pk            sk                    written
//	tenant             tenant#T      tenant                with every change of an endpoint or a limit: version, number of endpoints, limits
//	rate               tenant#T      rate                  per request of a tenant with a limit of events per second: the next-free time
//	challenges         tenant#T      rate#challenges       per challenge to a receiver of the tenant: the next-free time
//	data key           tenant#T      datakey               once, before the tenant's first secret
//	endpoint, listed   tenant#T      endpoint#E            in the transactions that create and delete the endpoint; keys only
//	uid                tenant#T      uid#U                 in the same transaction: reserves the alias
//	URL                tenant#T      url#H                 in the same transaction, and with each move: the number of endpoints with the receiver of hash H
//	endpoint           endpoint#E    endpoint              in a transaction with the tenant
//	TLS settings       endpoint#E    tls                   in the same transaction, when they change
//	circuit            endpoint#E    circuit               per decision, version by version; absent: closed, never failed
//	limits             endpoint#E    limits                per decision, version by version; only for endpoints with limits
//	places             places#T      limits                the same, for the places of the tenant in the lane slot
//	stats              endpoint#E    stats#HHHH            one addition per batch; HHHH is the UTC hour, attributes count per minute
//	notification       endpoint#E    history#W#N           once per time W and key N
//	change             audit#T       audit#W#C             when change C begins at time W, and when the change ends; T is * for changes outside of the tenants
//	erasure            erasure#T     erasure#J             per step of the job that removes tenant T, version by version; outlives the tenant
//	event              event#V       event                 once; names the endpoints and their numbers of shards
//	delivery           endpoint#E#SS delivery#A#V#GGGG     per decision, version by version
//	attempt            endpoint#E#SS attempt#A#V#GGGG#NNN  in a transaction with its delivery
//	replay job         tenant#T      replay#R              per page of the job, version by version
//	open replays       tenant#T      open-replays          in a transaction with the first and the last version of a job
//	outcomes           job#R         outcomes#NNNNNN       one addition per settled delivery; 100 deliveries per item
//	API key            key#H         key                   once, H is the SHA-256 of the key; for a portal link, K in no list
//	API key, listed    keys          key#K                 in a transaction with the key
//	portal link        tenant#T      link#K                with the SHA-256 of the code; once more, in a transaction with its key, when the code is used
//	event type         event-types   event-type#N          per change of type N, version by version
//	event types        catalogue     "catalogue"           in a transaction with each change of an event type: version and numbers
//
// SS is the shard of the delivery, 00 to 15: a hash of the event id modulo the
// endpoint's shards at acceptance. A is the time of acceptance. So an event with a
// reused idempotency key has other items than the expired event. The sort keys
// target#E of event#V are kept free, for endpoints that are added to an event later.
//
// # Indexes
//
//	index        hash key             range key                   lists
//	by_endpoint  endpoint#E#SS (pk)   <state>#<created>#V#GGGG    deliveries of an endpoint by state and time
//	by_state     circuit#NN           <when>#<endpoint>           circuits with an AttendAt, by time
//	by_state     look#NN              <when>#<endpoint>           circuits with a LookAt and no AttendAt, by time
//	by_state     active#<UTC hour>#NN <tenant>#<endpoint>         endpoints with counts in the hour
//	by_state     due#NN               <overdue from>#<delivery>   retrying deliveries, by time of the next attempt or of the next sweep
//
// Event types belong to no tenant. Every other item but the limits of an endpoint names
// its tenant, in the attribute tenant, in the partition key, or in the range key of
// active: an erasure scans the table for the tenant.
//
// Other items have no keys of an index. by_endpoint leaves out the successes of the
// first generation: their sort key is their position in the list. NN is the shard of
// the endpoint, 00 to 15, or of the event, 00 to 63: a hash of the id. Readers query
// all shards of a list and merge the rows in the order of the list. One failing shard
// fails the list.
//
// # Builds
//
// During a deployment, and after a rollback, an older build meets records of a later
// one. A new fact is an attribute of its own, and never changes the meaning of another
// attribute. A write of a further version keeps the attributes that the build does not
// know; see next. A word or an attribute that the build cannot read fails its record
// alone: see Store.Unreadable. Package internal/proof/formats has an item of every kind,
// and CONTRIBUTING.md says how the form of items changes.
//
// # Consistency
//
// The condition of a new endpoint compares the tenant's number of endpoints with the
// tenant's limit. A next-free time only grows: one update for a time that is past, and
// a second update for a time to come, because an update has no maximum of two values.
//
// Every write that decides something has a condition or adds to a counter. Every
// read is consistent, except for index queries: an index may lag a moment. Lists
// read the record of each index row and drop rows with a stale range key. Active
// and CountSelected return the rows of the index without reading records.
//
// The list of a tenant's endpoints is two reads: the rows, then the endpoints. The
// reads are consistent, so the result has every endpoint created before the call
// and not deleted. A Query and a BatchGetItem may see half of a transaction. So whoever
// keeps a list under a version reads both in TransactGetItems: see asOfOneMoment. The
// key of an endpoint does not name the tenant: reads and writes compare the tenant.
//
// # Expiry
//
// Events, deliveries, attempts, limits, stats, notifications, changes, jobs,
// outcomes, and portal links with their keys carry the TTL attribute expires_at. DynamoDB removes expired items up to some
// days later; until then, reads return expired items. Circuits do not expire:
// an endpoint has at most one circuit, and the circuit's generation must not go
// back. The items of a tenant do not expire either.
package dynamo
