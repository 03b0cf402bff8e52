package endpoint

import (
	"context"
	"fmt"

	"surehook/internal/hook"
)

// maxChangeAttempts limits retries after a version conflict. Each conflict
// means that another writer succeeded, so 3 attempts tolerate 2 such writers.
// People change endpoints, so more writers at the same moment are unlikely.
const maxChangeAttempts = 3

// Change sets the given fields of the endpoint and stores a new version, even
// if all values stay the same. version is the required version, 0 for any. The
// uid cannot be changed. Changed limits apply at once to the parked deliveries: Change
// starts their release. After an error of the release, the endpoint is changed.
//
// Errors: CodeInvalid names the wrong fields; CodeConflict if the endpoint has
// another version, or after 3 version conflicts; CodeForbidden if the tenant has
// hook.MaxEndpointsPerURL endpoints with the new URL.
func (a *Admin) Change(ctx context.Context, tenant hook.TenantID, ref string, version int64, f Fields) (hook.Endpoint, error) {
	var (
		from    string // the stored URL
		limited bool   // the limits differ
	)
	put := func(ctx context.Context, e hook.Endpoint) error {
		if e.URL != from {
			return a.Store.MoveEndpoint(ctx, e, from)
		}
		return a.Store.UpdateEndpoint(ctx, e)
	}
	e, err := a.write(ctx, tenant, ref, version, put, a.updating(func(e *hook.Endpoint) (bool, error) {
		uid, rate, inFlight := e.UID, e.RatePerSecond, e.MaxInFlight
		from = e.URL
		f.apply(e)
		limited = e.RatePerSecond != rate || e.MaxInFlight != inFlight
		errs := a.check(*e)
		if e.UID != uid {
			errs = append(errs, hook.FieldError{Field: "uid", Message: "cannot be changed"})
		}
		if len(errs) > 0 {
			return false, hook.Invalid(errs...)
		}
		if err := a.sealHeaders(ctx, e); err != nil {
			return false, err
		}
		return true, a.completeSecrets(ctx, e)
	}))
	if err != nil || !limited {
		return e, err
	}
	return e, a.release(ctx, e)
}

// Delete removes the endpoint. Parked deliveries are cancelled at once, other
// unsettled deliveries at their next attempt. version is the required version,
// 0 for any; CodeConflict if the endpoint has another version. After any other
// error the endpoint may be deleted.
func (a *Admin) Delete(ctx context.Context, tenant hook.TenantID, ref string, version int64) error {
	e, err := a.write(ctx, tenant, ref, version, a.Store.DeleteEndpoint, func(*hook.Endpoint) (bool, error) { return true, nil })
	if err != nil {
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
	return a.write(ctx, tenant, ref, version, a.Store.UpdateEndpoint, a.updating(edit))
}

// updating returns edit with a new UpdatedAt.
func (a *Admin) updating(edit func(*hook.Endpoint) (bool, error)) func(*hook.Endpoint) (bool, error) {
	return func(e *hook.Endpoint) (bool, error) {
		changed, err := edit(e)
		e.UpdatedAt = a.now()
		return changed, err
	}
}

// write reads the endpoint, calls edit and calls put with the result. write
// starts again when put reports a version conflict.
func (a *Admin) write(
	ctx context.Context, tenant hook.TenantID, ref string, version int64,
	put func(context.Context, hook.Endpoint) error, edit func(*hook.Endpoint) (bool, error),
) (hook.Endpoint, error) {
	var (
		e       hook.Endpoint
		refusal error // final: only a conflict of put starts again
	)
	err := hook.OnConflict(ctx, a.Wait, maxChangeAttempts, func() error {
		var changed bool
		if e, changed, refusal = a.edited(ctx, tenant, ref, version, edit); !changed {
			return nil // done, or refused
		}
		if err := put(ctx, e); err != nil {
			return fmt.Errorf("write endpoint %s: %w", e.ID, err)
		}
		e.Version++
		return nil
	})
	switch {
	case refusal != nil:
		return hook.Endpoint{}, refusal
	case err == nil:
		return e, nil
	case hook.CodeOf(err) == hook.CodeConflict:
		return hook.Endpoint{}, hook.Conflict("the endpoint is being changed by others; try again")
	}
	return hook.Endpoint{}, missing(err)
}

// edited reads the endpoint, checks the version and returns the endpoint after
// edit. changed is false after an error, or if there is nothing to write.
func (a *Admin) edited(
	ctx context.Context, tenant hook.TenantID, ref string, version int64, edit func(*hook.Endpoint) (bool, error),
) (e hook.Endpoint, changed bool, err error) {
	before, err := a.Get(ctx, tenant, ref)
	if err != nil {
		return hook.Endpoint{}, false, err
	}
	if version != 0 && version != before.Version {
		return hook.Endpoint{}, false, hook.Conflict("the endpoint was changed since it was read")
	}
	after := before
	if changed, err = edit(&after); err != nil {
		return hook.Endpoint{}, false, fmt.Errorf("change endpoint %s: %w", before.ID, err)
	}
	if !changed {
		return before, false, nil
	}
	return after, true, nil
}
