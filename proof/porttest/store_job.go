package porttest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

func jobCases() []storeCase {
	return []storeCase{
		{name: "a job comes back as its next version", run: jobComesBack},
		{name: "a minimal job comes back", run: smallJobComesBack},
		{name: "a job of another tenant is not found", run: jobNotFound},
		{name: "a job of another version conflicts and nothing is written", run: jobConflict},
		{name: "of 20 racing saves of a job exactly one wins", run: jobRace},
		{name: "jobs are listed newest first, below an id", run: jobsNewestFirst},
		{name: "a tenant reads its own jobs only", run: jobsAreApart},
		{name: "a tenant has at most 10 open jobs", run: openJobs},
		{name: "of 20 racing first saves of jobs exactly 10 win", run: openJobsRace},
	}
}

// sampleJob returns an unsaved job of the tenant with all fields set.
func sampleJob(t *testing.T, tenant hook.TenantID) replay.Job {
	t.Helper()

	endpoint := hook.NewEndpointID()
	job := replay.Job{
		ID:     newJobID(t),
		Tenant: tenant,
		Filter: replay.Filter{
			Endpoint: endpoint, State: hook.StateDead, Types: []string{"order.*", "invoice.paid"},
			From: storeEpoch().Add(-24 * time.Hour), To: storeEpoch(),
			Class: replay.Cause(hook.ClassRefused), Status: 422, DiedSince: storeEpoch().Add(-time.Hour),
		},
		Terms:     replay.Terms{Action: replay.ActionDiscard, Rate: 12.5, Limit: 200_000, By: hook.NewKeyID()},
		State:     replay.JobRunning,
		CreatedAt: storeEpoch(),
		UpdatedAt: storeEpoch().Add(time.Second),
		EndedAt:   storeEpoch().Add(time.Minute),
		ExpiresAt: storeExpiry(),
		Selected:  100_000,
		Enqueued:  99_000,
		Skipped:   900,
		SkippedBy: map[replay.Skip]int{replay.SkipReplayed: 890, replay.SkipExpires: 10},
		Endpoint:  endpoint,
		Cursor:    "b3BhcXVl",
		Selects:   true,
		NextAt:    storeEpoch().Add(2 * time.Second),
		Chain:     replay.Chain{Next: hook.NewNonce(), Previous: hook.NewNonce()},
	}
	for i := range replay.PageSize {
		job.Pending = append(job.Pending, placeOf(newEventID(t), endpoint, i+1))
	}
	return job
}

func savedJob(j replay.Job) replay.Job {
	j.Version++
	return j
}

func jobComesBack(t *testing.T, s StoreUnderTest) {
	j := sampleJob(t, "acme")
	for range 3 {
		given := j
		given.UpdatedAt = j.UpdatedAt.Add(999 * time.Microsecond).In(time.FixedZone("", 3600))
		given.Filter.Types, given.Pending = slices.Clone(j.Filter.Types), slices.Clone(j.Pending)
		check(t, s.SaveJob(t.Context(), given))
		given.Filter.Types[0], given.Pending[0] = "changed", hook.DeliveryRef{} // the stored job is a copy
		j = savedJob(j)
		got, err := s.Job(t.Context(), "acme", j.ID)
		wantSame(t, "Job(saved)", j, got, err)
	}
	j.Pending, j.Cursor, j.Selects, j.State = nil, "", false, replay.JobCancelled // no old field is left
	check(t, s.SaveJob(t.Context(), j))
	got, err := s.Job(t.Context(), "acme", j.ID)
	wantSame(t, "Job(ended)", savedJob(j), got, err)
}

func smallJobComesBack(t *testing.T, s StoreUnderTest) {
	j := replay.Job{
		ID: newJobID(t), Tenant: "acme", Filter: replay.Filter{State: hook.StateParked}, Terms: replay.Terms{Rate: replay.MinRate},
		State: replay.JobRunning, CreatedAt: storeEpoch(), UpdatedAt: storeEpoch(),
	}
	check(t, s.SaveJob(t.Context(), j))
	got, err := s.Job(t.Context(), "acme", j.ID)
	wantSame(t, "Job(saved)", savedJob(j), got, err)
}

func jobNotFound(t *testing.T, s StoreUnderTest) {
	j := sampleJob(t, "acme")
	check(t, s.SaveJob(t.Context(), j))
	_, err := s.Job(t.Context(), "globex", j.ID)
	wantCode(t, "Job(another tenant's)", err, hook.CodeNotFound)
	_, err = s.Job(t.Context(), "acme", newJobID(t))
	wantCode(t, "Job(unknown)", err, hook.CodeNotFound)
}

func jobConflict(t *testing.T, s StoreUnderTest) {
	j := sampleJob(t, "acme")
	j.Version = 1
	wantCode(t, "SaveJob(version 1, none stored)", s.SaveJob(t.Context(), j), hook.CodeConflict)
	_, err := s.Job(t.Context(), "acme", j.ID)
	wantCode(t, "Job(refused)", err, hook.CodeNotFound)

	j.Version = 0
	check(t, s.SaveJob(t.Context(), j))
	check(t, s.SaveJob(t.Context(), savedJob(j)))
	j = savedJob(savedJob(j))
	for _, version := range []int64{0, 1, 3} {
		stale := j
		stale.Version, stale.State = version, replay.JobCancelled
		wantCode(t, "SaveJob(stale)", s.SaveJob(t.Context(), stale), hook.CodeConflict)
	}
	got, err := s.Job(t.Context(), "acme", j.ID)
	wantSame(t, "Job(after refused saves)", j, got, err)
}

func jobRace(t *testing.T, s StoreUnderTest) {
	j := sampleJob(t, "acme")
	for range 2 { // a first version and a later one
		writer := func(i int) replay.Job {
			w := j
			w.Enqueued = i
			return w
		}
		winners := race(t, 20, func(ctx context.Context, i int) error { return s.SaveJob(ctx, writer(i)) })
		j = savedJob(writer(wantOne(t, winners)))
		got, err := s.Job(t.Context(), "acme", j.ID)
		wantSame(t, "Job(raced for)", j, got, err)
	}
}

// saveJobs saves n jobs of the tenant and returns the stored jobs newest first.
func saveJobs(t *testing.T, s StoreUnderTest, tenant hook.TenantID, n int) []replay.Job {
	t.Helper()

	var jobs []replay.Job
	for range n {
		j := sampleJob(t, tenant)
		check(t, s.SaveJob(t.Context(), j))
		jobs = append(jobs, savedJob(j))
	}
	slices.SortFunc(jobs, func(a, b replay.Job) int { return strings.Compare(string(b.ID), string(a.ID)) })
	return jobs
}

// newerJobID returns a new id greater than than. Ids of the same millisecond are
// in no particular order.
func newerJobID(t *testing.T, than hook.JobID) hook.JobID {
	t.Helper()

	for {
		if id := newJobID(t); id > than {
			return id
		}
	}
}

func jobsNewestFirst(t *testing.T, s StoreUnderTest) {
	check(t, s.CreateEndpoint(t.Context(), sampleEndpoint("acme"))) // other records of the tenant are not jobs
	check(t, s.SaveDelivery(t.Context(), sampleDelivery(newEventID(t), hook.NewEndpointID(), 1), nil))
	got, err := s.Jobs(t.Context(), "acme", "", 10)
	wantSame(t, "Jobs(none)", []replay.Job(nil), got, err)

	jobs := saveJobs(t, s, "acme", 5)
	tests := []struct {
		before hook.JobID
		limit  int
		want   []replay.Job
	}{
		{before: "", limit: 100, want: jobs},
		{before: "", limit: 2, want: jobs[:2]},
		{before: jobs[1].ID, limit: 2, want: jobs[2:4]},
		{before: jobs[3].ID, limit: 2, want: jobs[4:]},
		{before: jobs[4].ID, limit: 1, want: nil},
		{before: newerJobID(t, jobs[0].ID), limit: 1, want: jobs[:1]}, // an id without a job
	}
	for _, tt := range tests {
		got, err := s.Jobs(t.Context(), "acme", tt.before, tt.limit)
		wantSame(t, "Jobs(before "+string(tt.before)+")", tt.want, got, err)
	}
}

func jobsAreApart(t *testing.T, s StoreUnderTest) {
	ours, theirs := saveJobs(t, s, "acme", 2), saveJobs(t, s, "acme-2", 2)
	for tenant, want := range map[hook.TenantID][]replay.Job{"acme": ours, "acme-2": theirs, "globex": nil} {
		got, err := s.Jobs(t.Context(), tenant, "", 100)
		wantSame(t, "Jobs("+string(tenant)+")", want, got, err)
	}
	before := newerJobID(t, max(ours[0].ID, theirs[0].ID))
	theirNewest := sampleJob(t, "acme-2")
	theirNewest.ID = before
	check(t, s.SaveJob(t.Context(), theirNewest))
	got, err := s.Jobs(t.Context(), "acme", before, 100)
	wantSame(t, "Jobs(before another tenant's)", ours, got, err)
}

// openJobs opens as many jobs as a tenant may have. A later save of an open job
// changes no count, an ended job makes room, and repeated ends make room once.
func openJobs(t *testing.T, s StoreUnderTest) {
	var jobs []replay.Job
	for range replay.MaxOpenJobs {
		jobs = append(jobs, saveJobs(t, s, "acme", 1)...)
	}
	full := func(when string) {
		t.Helper()
		refused := sampleJob(t, "acme")
		err := s.SaveJob(t.Context(), refused)
		wantCode(t, "SaveJob("+when+")", err, hook.CodeThrottled)
		wantMessage(t, err, "at most 10 replays")
		_, err = s.Job(t.Context(), "acme", refused.ID)
		wantCode(t, "Job(refused)", err, hook.CodeNotFound)
	}
	full("11th")
	saveJobs(t, s, "globex", 1)
	check(t, s.SaveJob(t.Context(), jobs[0]))
	full("after a save of an open job")
	again := jobs[0]
	again.Version = 0
	wantCode(t, "SaveJob(an open job as new)", s.SaveJob(t.Context(), again), hook.CodeConflict)

	ended := savedJob(jobs[0])
	ended.State = replay.JobCancelled
	stale := ended
	stale.Version = 7
	wantCode(t, "SaveJob(a stale end)", s.SaveJob(t.Context(), stale), hook.CodeConflict)
	full("after a refused end")
	check(t, s.SaveJob(t.Context(), ended))
	check(t, s.SaveJob(t.Context(), savedJob(ended))) // a worker still sends the pending page
	saveJobs(t, s, "acme", 1)
	full("after one end and one start")
}

func openJobsRace(t *testing.T, s StoreUnderTest) {
	wantWinners(t, replay.MaxOpenJobs, hook.CodeThrottled, func(ctx context.Context) error {
		return s.SaveJob(ctx, sampleJob(t, "acme"))
	})
}
