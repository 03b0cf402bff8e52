// Package isolation decides how much one endpoint, and one tenant, may use at once, so that an
// endpoint in trouble takes little from the others. It maps values to values. Package gate asks
// it about due tokens, and package release about parked deliveries. Both write the answer with
// one conditional update.
//
// # The rules
//
//	Class    fast, slow or unproven, by the time of the answers (Score, Credit)
//	Slots    the in-flight slots that attempts of an endpoint need, by class and max_in_flight
//	Width    the in-flight slots through which its parked deliveries are sent
//	Start    gives a token an in-flight slot, if one is free
//	Claim    gives parked deliveries the free slots, each with its rate slot
//	Order    which parked delivery is next
//	Reserve  the next rate slot under rate_per_second
//	Take     gives tokens of a tenant places in the lane slot
//
// [Limits] is the stored state: of an endpoint, or of a tenant's places.
package isolation
