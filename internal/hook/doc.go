// Package hook holds Surehook's words: tenants, endpoints, events, deliveries,
// attempts, tokens and errors, with their ids and the rules of what is valid.
//
// It knows no clock, no network and no cloud. Everything else is written in its terms.
//
// A delivery is one event for one endpoint in one generation. It has no record
// while it is queued; its states are
//
//	            +--------- gate says no ---------+
//	            |                                v
//	queued --attempt--> retrying --gate----> parked
//	  |  |                 |  ^                |  |
//	  |  |                 |  +---- retry -----+  |
//	  |  +----- 2xx -------+------- 2xx ----------+--> delivered
//	  +---- rejected, exhausted, expired ---------+--> dead --> discarded
//	  +---- endpoint deleted, cancelled by hand --+--> cancelled
//
// A replay makes the next generation, which begins queued again. The record of
// the one before says so; it keeps its state, and a dead one is discarded once
// the new one is delivered, or dead in its place. A replay that is forced on a
// delivery in progress cancels that one.
package hook
