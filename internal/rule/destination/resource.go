package destination

import (
	"regexp"
	"strings"

	"surehook.example/surehook/internal/hook"
)

// Resource is what all types in AWS have: the endpoint's URL is the address of a resource, to which
// a role of the customer sends.
type Resource struct {
	Noun     string // what the address is, for errors
	Example  string // of an address
	MaxBytes int    // of a message, with all that belongs to it

	// MaxCoalesceBytes is the largest coalesce.max_bytes that leaves room for what is around the
	// payloads.
	MaxCoalesceBytes int

	address *regexp.Regexp // with groups for the region and the account
}

// Address returns the region and the account of the resource that the URL names; empty if it names
// none of this type.
func (r *Resource) Address(url string) (region, account string) {
	if r != nil {
		if m := r.address.FindStringSubmatch(url); m != nil {
			return m[1], m[2]
		}
	}
	return "", ""
}

// check refuses an address of another form, and what only HTTP has.
func (r *Resource) check(e *hook.Endpoint) []hook.FieldError {
	if r == nil {
		return nil
	}
	const none = "must be removed: only http has "
	var errs hook.Fields
	errs.Refuse(e.URL != "" && !r.address.MatchString(e.URL), "url", "must be %s, such as %s", r.Noun, r.Example)
	errs.Refuse(len(e.Headers)+len(e.SealedHeaders) > 0, "headers", none+"headers")
	errs.Refuse(e.Auth.Type != hook.AuthNone, "auth", none+"an authentication")
	errs.Refuse(e.TLS.On(), "tls", none+"TLS settings")
	region, egress := e.Origin()
	errs.Refuse(region != "", "region", "must be empty: requests to AWS go to the region of the url")
	errs.Refuse(egress != hook.EgressShared, "egress", "must be shared: requests to AWS have no other origin")
	errs.Refuse(len(e.Profiles) != 1 || e.Profiles[0].Name != hook.ProfileStandard, "signature_profiles", "must be standard alone: only http has other headers")
	errs.Refuse(e.Coalesce.On() && e.Destination.Settings[GroupBy] != "", "destination."+GroupBy, "cannot be combined with coalesce: the events of a request have one group")
	errs.Refuse(e.Coalesce.On() && e.Coalesce.MaxBytes > r.MaxCoalesceBytes, "coalesce.max_bytes", "must be at most %d for %s, which takes no larger message", r.MaxCoalesceBytes, e.Destination.Type)
	return errs
}

// Check returns the fields of the endpoint's destination that the deployment does not allow.
// Its own account is refused, because a delivery to a queue or bus of Surehook could cause
// further deliveries, and because the roles there are not the customers'.
func Check(allowed hook.Destinations, e *hook.Endpoint) []hook.FieldError {
	if !e.Destination.On() {
		return nil
	}
	if allowed.RolePath == "" {
		return []hook.FieldError{{Field: "destination.type", Message: "must be http: this deployment has no destinations in AWS"}}
	}
	var errs hook.Fields
	t, _ := Of(e)
	_, account := t.Address(e.URL)
	errs.Refuse(account == allowed.Account, "url", "must not be in the account of Surehook")
	if m := roleARN.FindStringSubmatch(e.Destination.Settings[RoleARN]); m != nil {
		errs.Refuse(m[1] == allowed.Account, "destination."+RoleARN, "must not be in the account of Surehook")
		errs.Refuse(!strings.HasPrefix(m[2], allowed.RolePath), "destination."+RoleARN, "must be a role with the path %s", allowed.RolePath)
	}
	return errs
}
