// Package isolation decides what one endpoint, and one tenant, may use at once, so that an
// endpoint in trouble takes little from the others. Values in, values out: package gate
// asks for the tokens that are due, package release for the deliveries that wait, and both
// write the answer with one conditional update.
//
// # The rules
//
//	Class    fast, slow or unproven, by the time of the answers (Score, Credit)
//	Slots    the in-flight slots that attempts of an endpoint need, by class and max_in_flight
//	Width    the in-flight slots in which its parked deliveries are sent
//	Start    a token begins its attempt in a slot, if one is free
//	Claim    parked deliveries get the free slots, each with its rate slot
//	Order    which parked delivery is next
//	Reserve  the next rate slot under rate_per_second
//	Take     the places of a tenant in the lane slot
//
// [Limits] is the state of an endpoint, and of a tenant's places.
package isolation
