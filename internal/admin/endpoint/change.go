package endpoint

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/store"
)

// Change sets the given fields of the endpoint and stores a new version. If all
// values stay the same, Change writes nothing, and the version stays. The given value
// of a header, or secret of the authentication, always counts as a change, because
// nobody here can read the stored one. A URL of another origin needs header values,
// authentication and client key again, or without. version is the required version, 0 for
// any. The uid cannot be changed. Changed limits, and a shorter longest wait after a 429, apply at
// once to the parked deliveries: Change starts their release. After a change of what is sent, or of
// where it goes, the endpoint is tried at once: see admission.Record.Mended. After an error of either,
// the endpoint is changed, and a repeat of the call does what is left. A shorter cooldown, or a
// lower bound of it, shortens the wait for the next probe to the cooldown.
//
// With a Prover, the receiver at another URL is asked before the change is stored, and so is the
// token endpoint at another origin.
//
// Errors: CodeInvalid names the wrong fields; CodeUnverified if the receiver at another URL does
// not confirm; CodeStale if the endpoint has another version; CodeUnavailable if others keep changing
// it; CodeForbidden if the tenant has hook.MaxEndpointsPerURL endpoints with the new URL,
// or PerHost with its host.
func (a *Admin) Change(ctx context.Context, tenant hook.TenantID, ref string, version int64, f Fields) (hook.Endpoint, error) {
	var limited bool // the limits differ
	var sooner bool  // probes follow sooner
	var mended bool  // what may have been wrong with the requests differs
	var moved bool   // the origin differs
	var proved place // whose receivers have confirmed: not asked again after a version conflict
	e, err := a.change(ctx, tenant, ref, version, func(e *hook.Endpoint) (bool, error) {
		before := *e
		errs, err := a.apply(ctx, f, e)
		if err != nil {
			return false, err
		}
		limited = e.RatePerSecond != before.RatePerSecond || e.MaxInFlight != before.MaxInFlight || e.MaxAge < before.MaxAge || e.RetryAfterCap() < before.RetryAfterCap()
		sooner = e.Circuit.Sooner(before.Circuit)
		if !hasField(errs, "url") {
			errs = append(errs, checkOrigin(before, *e)...)
		}
		errs.Refuse(e.UID != before.UID, "uid", "cannot be changed")
		if errs = hook.AlsoWrong(f.Wrong, errs); len(errs) > 0 {
			return false, hook.Invalid(errs...)
		}
		moved = hook.Origin(before.URL) != hook.Origin(e.URL)
		if mended = sentElse(before, *e); same(before, *e) {
			mended = f.namesSent() // it may repeat a change after which the process died
			return false, nil
		}
		if to := placeOf(*e); proved != to {
			if err := a.prove(ctx, before, *e, ""); err != nil {
				return false, err
			}
			proved = to
		}
		return true, a.seal(ctx, e)
	})
	if err == nil && sooner {
		err = a.shortenWait(ctx, e)
	}
	switch {
	case err != nil:
		return e, err
	case mended:
		return e, a.mended(ctx, e, moved)
	case limited:
		return e, a.release(ctx, e)
	}
	return e, nil
}

// place is where the requests of an endpoint go.
type place struct {
	url, token string
	private    bool
}

func placeOf(e hook.Endpoint) place { return place{e.URL, e.Auth.OAuth.TokenURL, e.Private()} }

// sentFields returns the fields of an endpoint, with the same names in Fields, on which depends where
// its requests go, from where, and how: with which credentials and headers, in which shape, and for
// how long. After a change the endpoint may work. Egress belongs to them, but an endpoint stores it in
// Region and Fixed.
func sentFields() []string {
	return []string{"URL", "Headers", "Auth", "TLS", "Destination", "Region", "Timeout", "Transformation", "Envelope", "Profiles"}
}

// sentElse reports whether one of sentFields or the egress differs.
func sentElse(before, after hook.Endpoint) bool {
	was, is := reflect.ValueOf(before), reflect.ValueOf(after)
	return before.Fixed != after.Fixed || !maps.EqualFunc(before.SealedHeaders, after.SealedHeaders, bytes.Equal) || slices.ContainsFunc(sentFields(), func(name string) bool {
		return !reflect.DeepEqual(was.FieldByName(name).Interface(), is.FieldByName(name).Interface())
	})
}

// namesSent reports whether one of sentFields or the egress is given.
func (f Fields) namesSent() bool {
	given := reflect.ValueOf(f)
	return f.Egress != nil || slices.ContainsFunc(sentFields(), func(name string) bool { return !given.FieldByName(name).IsNil() })
}

// same reports whether a change left all settings as they were. Given header values are in after
// in plain text. A given secret of the authentication is, too, and so differs from the stored
// one.
func same(before, after hook.Endpoint) bool {
	if len(after.Headers) > 0 {
		return false
	}
	return reflect.DeepEqual(normal(before), normal(after))
}

// normal returns the endpoint with one form for equal settings: nil for an empty map or list, and
// the defaults for the settings of the circuit.
func normal(e hook.Endpoint) hook.Endpoint {
	for _, v := range reflect.ValueOf(&e).Elem().Fields() {
		if kind := v.Kind(); (kind == reflect.Map || kind == reflect.Slice) && v.Len() == 0 {
			v.SetZero()
		}
	}
	e.Circuit = e.Circuit.WithDefaults()
	e.MaxRetryAfter = e.RetryAfterCap()
	return e
}

// Delete removes the endpoint. Parked deliveries are cancelled at once, other
// unsettled deliveries at their next attempt. version is the required version,
// 0 for any; CodeStale if the endpoint has another version. After any other
// error the endpoint may be deleted.
func (a *Admin) Delete(ctx context.Context, tenant hook.TenantID, ref string, version int64) error {
	e, err := a.write(ctx, tenant, ref, version, a.remove, func(*hook.Endpoint) (bool, error) { return true, nil })
	if err != nil {
		return err
	}
	record, err := a.Store.Circuit(ctx, e.Tenant, e.ID)
	if err != nil || record.Version == 0 { // no record: no delivery was ever parked
		return err
	}
	return a.release(ctx, e)
}

// change reads the endpoint, calls edit and stores the result. edit reports
// whether the endpoint changed. edit must replace maps and slices instead of
// writing to them, because each attempt calls edit again.
func (a *Admin) change(
	ctx context.Context, tenant hook.TenantID, ref string, version int64, edit func(*hook.Endpoint) (bool, error),
) (hook.Endpoint, error) {
	return a.write(ctx, tenant, ref, version, a.update, func(e *hook.Endpoint) (bool, error) {
		changed, err := edit(e)
		e.UpdatedAt = a.now()
		return changed, err
	})
}

// update writes the changed endpoint.
func (a *Admin) update(ctx context.Context, before, after hook.Endpoint) error {
	put := a.Store.UpdateEndpoint
	if after.URL != before.URL {
		put = func(ctx context.Context, e hook.Endpoint) error {
			if err := a.place(ctx, &e, before.URL); err != nil {
				return err
			}
			return a.Store.MoveEndpoint(ctx, e, before.URL)
		}
	}
	if err := put(ctx, after); err != nil {
		return fmt.Errorf("write endpoint %s: %w", after.ID, err)
	}
	a.changed(before, after)
	return nil
}

// remove removes the endpoint.
func (a *Admin) remove(ctx context.Context, before, _ hook.Endpoint) error {
	if err := a.Store.DeleteEndpoint(ctx, before); err != nil {
		return fmt.Errorf("remove endpoint %s: %w", before.ID, err)
	}
	a.changed(before, hook.Endpoint{})
	return nil
}

// write reads the endpoint, calls edit, and calls put with the result: again if put reports a version
// conflict.
func (a *Admin) write(
	ctx context.Context, tenant hook.TenantID, ref string, version int64,
	put func(ctx context.Context, before, after hook.Endpoint) error, edit func(*hook.Endpoint) (bool, error),
) (hook.Endpoint, error) {
	endpoints := store.Table[string, hook.Endpoint]{
		Name: "the endpoint", Wait: a.Wait,
		Read: func(ctx context.Context, ref string) (hook.Endpoint, error) { return a.Get(ctx, tenant, ref) },
		Write: func(ctx context.Context, _ string, before, after hook.Endpoint) (hook.Endpoint, error) {
			err := put(ctx, before, after)
			after.Version++
			return after, err
		},
	}
	_, e, err := endpoints.Update(ctx, ref, func(before hook.Endpoint) (hook.Endpoint, bool, error) {
		if version != 0 && version != before.Version {
			return before, false, &hook.Error{Code: hook.CodeStale, Message: "the endpoint was changed since it was read"}
		}
		if err := a.permit(before); err != nil {
			return before, false, err
		}
		after := before
		changed, err := edit(&after)
		if err != nil {
			return before, false, fmt.Errorf("change endpoint %s: %w", before.ID, err)
		}
		if !changed {
			after = before
		}
		return after, changed, nil
	})
	return e, err
}
