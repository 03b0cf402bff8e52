package porttest

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"surehook.example/surehook/internal/admin/apikey"
	"surehook.example/surehook/internal/admin/audit"
	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/admin/eventtype"
	"surehook.example/surehook/internal/admin/search"
	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/aws/kms"
	"surehook.example/surehook/internal/delivery/admit"
	"surehook.example/surehook/internal/delivery/backlog"
	"surehook.example/surehook/internal/delivery/breaker"
	"surehook.example/surehook/internal/delivery/deliver"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/notify"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/delivery/settle"
	"surehook.example/surehook/internal/hook"
)

// StoreUnderTest is the union of all storage ports.
type StoreUnderTest interface { //nolint:interfacebloat // a union of ports
	ingest.Store
	deliver.Store
	endpoint.Store
	status.Store
	search.Store
	tenant.Store
	erasure.Store
	apikey.Store
	apikey.Keys
	apikey.LinkStore
	audit.Store
	eventtype.Store
	ingest.TypeStore
	settle.EndpointDisabler
	kms.DataKeys
	admit.Store
	breaker.Store
	settle.Store
	replay.Store
	replay.Index
	backlog.Index
	replay.Jobs
	notify.History
}

// storeCase tests one statement of a contract on a fresh store.
type storeCase struct {
	name string
	run  func(t *testing.T, s StoreUnderTest)
}

// Store tests an implementation of all storage ports. Each call of newStore returns
// an empty store.
func Store(t *testing.T, newStore func(t *testing.T) StoreUnderTest) {
	t.Helper()

	cases := slices.Concat(
		eventCases(), deliveryCases(), loadCases(), listCases(), endpointCases(), uidCases(), keyCases(), linkCases(), dataKeyCases(), tenantCases(),
		circuitCases(), limitsCases(), countCases(), parkedCases(), gateCases(),
		replayCases(), selectCases(), jobCases(), outcomeCases(), statsCases(), notificationCases(), auditCases(), eraseCases(), erasureCases(), orderCases(), eventTypeCases(),
	)
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			skipDeviation(t, tt.name)

			tt.run(t, newStore(t))
		})
	}
}

// storeEpoch is the first time of the suite.
func storeEpoch() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC) }

// storeExpiry is the expiry time of the suite's records, after the end of the suite.
func storeExpiry() time.Time { return time.Date(2036, 1, 2, 3, 4, 5, 0, time.UTC) }

func newEventID(t *testing.T) hook.EventID {
	t.Helper()

	id := hook.NewEventID()
	return id
}

// check fails the test when a call in the setup fails.
func check(t *testing.T, err error) {
	t.Helper()

	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, call string, err error, want hook.Code) {
	t.Helper()

	if err == nil || hook.CodeOf(err) != want {
		t.Errorf("%s = %v (%s); want %s", call, err, hook.CodeOf(err), want)
	}
}

// wantSame compares the result of a call. nil equals empty.
func wantSame(t *testing.T, call string, want, got any, err error) {
	t.Helper()

	if err != nil {
		t.Fatalf("%s = %v; want no error", call, err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", call, diff)
	}
}

// race makes n concurrent calls and returns the numbers, from 0, of the successful
// calls. All other calls must fail with CodeConflict. race repeats a call after
// CodeUnavailable, because a store may be unavailable under contention.
func race(t *testing.T, n int, call func(ctx context.Context, i int) error) []int {
	t.Helper()

	return raceFor(t, n, hook.CodeConflict, call)
}

// raceFor is race with another code of the calls without success.
func raceFor(t *testing.T, n int, lost hook.Code, call func(ctx context.Context, i int) error) []int {
	t.Helper()
	if n > 1 {
		skipRace(t)
	}

	errs := make([]error, n)
	start := make(chan struct{})
	var racers sync.WaitGroup
	for i := range n {
		racers.Go(func() {
			<-start
			for t.Context().Err() == nil {
				if errs[i] = call(t.Context(), i); errs[i] == nil || hook.CodeOf(errs[i]) != hook.CodeUnavailable {
					return
				}
			}
		})
	}
	close(start)
	racers.Wait()

	var winners []int
	for i, err := range errs {
		switch {
		case err == nil:
			winners = append(winners, i)
		case hook.CodeOf(err) != lost:
			t.Errorf("racing call %d = %v; want success or %s", i, err, lost)
		}
	}
	return winners
}

// wantOne returns the single winner of a race.
func wantOne(t *testing.T, winners []int) int {
	t.Helper()

	if len(winners) != 1 {
		t.Fatalf("successful racing calls: %v; want exactly one", winners)
	}
	return winners[0]
}
