package dynamo_test

import (
	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/proof/porttest"
)

var _ porttest.StoreUnderTest = (*dynamo.Store)(nil)
