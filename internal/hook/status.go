package hook

import (
	"fmt"
	"slices"
)

// MaxStatuses limits the entries of each list of statuses of an endpoint.
const MaxStatuses = 20

// The statuses that the lists of an endpoint may name.
const (
	minListedStatus = 400
	maxListedStatus = 599
	statusGone      = 410 // disables the endpoint, so no list may name it
	statusThrottled = 429 // holds back all deliveries of the endpoint, so no list may name it
)

// ResultOf returns what an outcome means for a delivery to the endpoint. The endpoint's status
// lists take precedence over the class. They only decide about the delivery: for the circuit,
// the class alone says whether the endpoint works.
func (e *Endpoint) ResultOf(o *Outcome) Result {
	switch {
	case slices.Contains(e.RetryOn, o.Status):
		return ResultTransient
	case slices.Contains(e.GiveUpOn, o.Status):
		return ResultRejected
	}
	return o.Class.result()
}

// validateStatuses checks both lists: 400 to 599, except 410 and 429, and no status twice, in one
// list or in both.
func validateStatuses(e Endpoint) []FieldError {
	var errs Fields
	validateStatusList(&errs, "retry_on", e.RetryOn)
	validateStatusList(&errs, "give_up_on", e.GiveUpOn)
	for i, status := range e.GiveUpOn {
		errs.Refuse(slices.Contains(e.RetryOn, status), fmt.Sprintf("give_up_on[%d]", i), "is also in retry_on")
	}
	return errs
}

func validateStatusList(errs *Fields, field string, list []int) {
	if len(list) > MaxStatuses {
		errs.Add(field, "must have at most %d statuses", MaxStatuses)
		return
	}
	for i, status := range list {
		name := fmt.Sprintf("%s[%d]", field, i)
		switch {
		case status == statusGone || status == statusThrottled:
			errs.Add(name, "must not be %d or %d: they have meanings of their own", statusGone, statusThrottled)
		case status < minListedStatus || status > maxListedStatus:
			errs.Add(name, "must be %d to %d", minListedStatus, maxListedStatus)
		case slices.Contains(list[:i], status):
			errs.Add(name, "is named twice")
		}
	}
}
