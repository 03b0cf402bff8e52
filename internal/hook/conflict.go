package hook

import "context"

// OnConflict calls write until write returns no CodeConflict, at most tries
// times (1 or more), and returns the last error. Each call of write must read
// the record again, decide, and write the decision on condition of the version
// read. Each conflict means success of another writer, so n tries tolerate
// n-1 concurrent writers. OnConflict stops between two tries when ctx is done.
//
// An error with CodeConflict means a conflict in every try.
func OnConflict(ctx context.Context, tries int, write func() error) error {
	var err error
	for range tries {
		err = write()
		if CodeOf(err) != CodeConflict || ctx.Err() != nil {
			return err
		}
	}
	return err
}
