package registry

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"surehook/internal/admin/page"
	"surehook/internal/hook"
)

// changeTries bounds how often a change that lost a race is made again.
const changeTries = 3

// Endpoint returns the tenant's endpoint that ref names by id or by uid; else CodeNotFound.
func (r *Registry) Endpoint(ctx context.Context, tenant hook.TenantID, ref string) (hook.Endpoint, error) {
	var (
		e   hook.Endpoint
		err error
	)
	if id, notID := hook.ParseEndpointID(ref); notID == nil {
		e, err = r.Endpoints.Endpoint(ctx, tenant, id)
	} else if hook.ValidUID(ref) {
		e, err = r.Endpoints.EndpointByUID(ctx, tenant, ref)
	} else {
		return hook.Endpoint{}, hook.NotFound("endpoint")
	}
	if err != nil {
		return hook.Endpoint{}, missing("endpoint", fmt.Errorf("read endpoint %s: %w", ref, err))
	}
	return e, nil
}

// List returns a page of the tenant's endpoints, in the order of their ids.
func (r *Registry) List(ctx context.Context, tenant hook.TenantID, p page.Request) (page.List[hook.Endpoint], error) {
	all, err := r.Endpoints.Endpoints(ctx, tenant)
	if err != nil {
		return page.List[hook.Endpoint]{}, fmt.Errorf("list endpoints of tenant %s: %w", tenant, err)
	}
	return page.Of(all, page.Scope("endpoints", string(tenant)), p, func(e hook.Endpoint) string { return string(e.ID) })
}

// ListSlow is List of those that the last review found to be slow, or of those
// that it did not.
func (r *Registry) ListSlow(ctx context.Context, tenant hook.TenantID, slow bool, p page.Request) (page.List[hook.Endpoint], error) {
	all, err := r.Endpoints.Endpoints(ctx, tenant)
	if err != nil {
		return page.List[hook.Endpoint]{}, fmt.Errorf("list endpoints of tenant %s: %w", tenant, err)
	}
	ids := make([]hook.EndpointID, len(all))
	for i, e := range all {
		ids[i] = e.ID
	}
	records, err := r.Circuits.CircuitsOf(ctx, ids)
	if err != nil {
		return page.List[hook.Endpoint]{}, fmt.Errorf("read circuits of tenant %s: %w", tenant, err)
	}
	all = slices.DeleteFunc(all, func(e hook.Endpoint) bool { return records[e.ID].Review.Slow != slow })
	list := page.Scope("endpoints", string(tenant), "slow", strconv.FormatBool(slow))
	return page.Of(all, list, p, func(e hook.Endpoint) string { return string(e.ID) })
}

// Change sets the given fields of the endpoint. version is the one it must
// have, 0 for any. The uid cannot be changed. A change that leaves everything
// as it was still counts as one.
//
// Errors: CodeInvalid names the wrong fields; CodeConflict when the endpoint
// has another version, or keeps being changed by others.
func (r *Registry) Change(ctx context.Context, tenant hook.TenantID, ref string, version int64, f Fields) (hook.Endpoint, error) {
	return r.change(ctx, tenant, ref, version, func(e *hook.Endpoint) (bool, error) {
		uid := e.UID
		f.apply(e)
		errs := r.check(*e)
		if e.UID != uid {
			errs = append(errs, hook.FieldError{Field: "uid", Message: "cannot be changed"})
		}
		if len(errs) > 0 {
			return false, hook.Invalid(errs...)
		}
		return true, r.completeSecrets(ctx, e)
	})
}

// Delete removes the endpoint. Deliveries to it that are not settled are
// cancelled when their turn comes, those that are parked at once. version is the
// one it must have, 0 for any; CodeConflict when it has another. On another error
// it may be deleted already.
func (r *Registry) Delete(ctx context.Context, tenant hook.TenantID, ref string, version int64) error {
	e, err := r.write(ctx, tenant, ref, version, r.Endpoints.DeleteEndpoint, func(*hook.Endpoint) (bool, error) { return true, nil })
	if err != nil {
		return err
	}
	return r.release(ctx, e)
}

// change reads the endpoint, lets edit change it and writes it. edit says
// whether there is anything to write; it must replace what it changes of maps
// and slices, and may be called once per try.
func (r *Registry) change(
	ctx context.Context, tenant hook.TenantID, ref string, version int64, edit func(*hook.Endpoint) (bool, error),
) (hook.Endpoint, error) {
	return r.write(ctx, tenant, ref, version, r.Endpoints.UpdateEndpoint, func(e *hook.Endpoint) (bool, error) {
		changed, err := edit(e)
		e.UpdatedAt = r.now()
		return changed, err
	})
}

// write is read, edit and put, again when another writer came between.
func (r *Registry) write(
	ctx context.Context, tenant hook.TenantID, ref string, version int64,
	put func(context.Context, hook.Endpoint) error, edit func(*hook.Endpoint) (bool, error),
) (hook.Endpoint, error) {
	for range changeTries {
		e, err := r.Endpoint(ctx, tenant, ref)
		if err != nil {
			return hook.Endpoint{}, err
		}
		if version != 0 && version != e.Version {
			return hook.Endpoint{}, hook.Conflict("the endpoint was changed since it was read")
		}
		before := e
		changed, err := edit(&e)
		if err != nil {
			return hook.Endpoint{}, fmt.Errorf("change endpoint %s: %w", e.ID, err)
		}
		if !changed {
			return before, nil
		}
		err = put(ctx, e)
		if err == nil {
			e.Version++
			return e, nil
		}
		if hook.CodeOf(err) != hook.CodeConflict {
			return hook.Endpoint{}, missing("endpoint", fmt.Errorf("write endpoint %s: %w", e.ID, err))
		}
	}
	return hook.Endpoint{}, hook.Conflict("the endpoint is being changed by others; try again")
}
