package sim_test

// check is the name of a check. The list of mutations says which check must find
// which bug.
type check string

// The checks of single effects, in the order of a delivery's life.
const (
	checkNumbers       check = "numbers"       // a sequence gives each number to one delivery, in the order of acceptance
	checkTurn          check = "turn"          // no attempt before those of its sequence that come first are over, and its request names the gaps
	checkAccepted      check = "accepted"      // an accepted event is stored, for the same number of endpoints
	checkFirstUse      check = "first use"     // an event has the payload of the first use of its idempotency key
	checkRetention     check = "retention"     // an event is kept for the shortest of the retentions
	checkUID           check = "uid"           // a uid names one endpoint, the one that has it
	checkTargets       check = "targets"       // an endpoint gets the events posted during its existence
	checkOrder         check = "order"         // a task comes after the record of the attempt before
	checkTenant        check = "tenant"        // a task names the tenant of its event
	checkNonce         check = "nonce"         // a task sent on keeps its nonce
	checkWave          check = "wave"          // a wave is released once, and is no larger than documented
	checkProbeTask     check = "probe task"    // one task per probe
	checkSettled       check = "settled"       // no attempt of a settled delivery, or of a recorded attempt
	checkPolicy        check = "policy"        // no more attempts than the policy has
	checkEarly         check = "early"         // no attempt before its time
	checkAge           check = "age"           // no attempt after max_age, and no death of age before
	checkSettings      check = "settings"      // an attempt obeys the settings at the start of its process, or later ones
	checkPlace         check = "place"         // requests of fixed addresses come from them, those of a region from there, and AWS is called by its own requests
	checkContent       check = "content"       // a request has the event in the shape of the endpoint, and only a shape that fails makes none
	checkUnmade        check = "unmade"        // a probe without a request gives its lease back
	checkFilter        check = "filter"        // no event gets to an endpoint whose filter refuses it
	checkStatuses      check = "statuses"      // give_up_on ends a delivery at once, and retry_on retries it
	checkPersist       check = "persist"       // the outcome of a request is written until it stands
	checkQueue         check = "queue"         // a task is on a queue of its kind
	checkWindow        check = "window"        // tasks of a coalescing endpoint wait for the end of their window
	checkStatus        check = "status"        // no attempt at a deleted, disabled or paused endpoint
	checkGenerations   check = "generations"   // at most one generation in progress
	checkThrottled     check = "throttled"     // no attempt during a Retry-After
	checkOpen          check = "open"          // no attempt but the probe while the circuit is open
	checkProbe         check = "probe"         // no second probe
	checkDuplicate     check = "duplicate"     // only a named fault explains a repeated attempt
	checkMessages      check = "messages"      // attempts, faults, parks and waits explain all messages
	checkWrites        check = "writes"        // every write of a delivery changes it, and other writers explain every conflict
	checkRequests      check = "requests"      // a batch takes a bounded number of requests to the store and the queues
	checkInFlight      check = "in flight"     // max_in_flight
	checkRate          check = "rate"          // rate_per_second
	checkErased        check = "erased"        // the erasure of an event leaves no body of any generation
	checkErasure       check = "erasure"       // nothing is sent, and no record is left, after the erasure of a tenant
	checkState         check = "state"         // the diagram of states
	checkRecord        check = "record"        // the record shows the outcome, and the policy's decision
	checkResult        check = "result"        // results change only the circuit of their generation
	checkLease         check = "lease"         // leases end within two minutes
	checkSlot          check = "slot"          // a process gives its slots back
	checkClaim         check = "claim"         // no process takes a slot from the task that has it
	checkGone          check = "gone"          // 410 disables the endpoint
	checkRetryAfter    check = "retry after"   // 429 throttles the endpoint
	checkClosing       check = "closing"       // who opens or closes a circuit asks for a check
	checkTold          check = "told"          // who disables an endpoint tells so
	checkOthers        check = "others"        // an unprocessed key, or a word of a later build, fails no task of other keys
	checkKept          check = "kept"          // a write keeps the attributes of a later build
	checkBatch         check = "batch"         // a request has the events of the tasks, within the bounds, and few requests have room
	checkLate          check = "late"          // a delivery waits no longer than its endpoint's trouble explains
	checkOperator      check = "operator"      // an operator gets an answer
	checkUndeliverable check = "undeliverable" // without faults no message is undeliverable
	checkRestored      check = "restored"      // after a restore, nothing is sent of events that the table does not have
	checkSetup         check = "setup"         // the world itself works
)

// The checks of the final state.
const (
	checkEnd     check = "end"     // the run ends
	checkLost    check = "lost"    // every delivery is settled
	checkUnseen  check = "unseen"  // delivered exactly if the receiver said so
	checkLeak    check = "leak"    // no message, schedule or lease is left
	checkLetters check = "letters" // the dead letters are the dead deliveries
	checkJobs    check = "jobs"    // the totals of jobs are exact
	checkUntold  check = "untold"  // the owner was told of each opening and closing, whatever failed
)
