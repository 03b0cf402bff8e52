package dynamo_test

import (
	"surehook/internal/aws/dynamo"
	"surehook/internal/proof/porttest"
)

var _ porttest.StoreUnderTest = (*dynamo.Store)(nil)
