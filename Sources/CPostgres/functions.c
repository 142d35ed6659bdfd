#include "CLazyLibrary.h"

// What of libpq is called; a function that is missing here fails to link.

LAZY_LIBRARY(pq, "libpq.so.5");
LAZY_FUNCTION(pq, PQbackendPID);
LAZY_FUNCTION(pq, PQclear);
LAZY_FUNCTION(pq, PQcmdStatus);
LAZY_FUNCTION(pq, PQcmdTuples);
LAZY_FUNCTION(pq, PQconnectdbParams);
LAZY_FUNCTION(pq, PQconninfoFree);
LAZY_FUNCTION(pq, PQconninfoParse);
LAZY_FUNCTION(pq, PQconsumeInput);
LAZY_FUNCTION(pq, PQerrorMessage);
LAZY_FUNCTION(pq, PQexec);
LAZY_FUNCTION(pq, PQexecParams);
LAZY_FUNCTION(pq, PQexecPrepared);
LAZY_FUNCTION(pq, PQfinish);
LAZY_FUNCTION(pq, PQfname);
LAZY_FUNCTION(pq, PQfnumber);
LAZY_FUNCTION(pq, PQfreemem);
LAZY_FUNCTION(pq, PQftype);
LAZY_FUNCTION(pq, PQgetResult);
LAZY_FUNCTION(pq, PQgetisnull);
LAZY_FUNCTION(pq, PQgetlength);
LAZY_FUNCTION(pq, PQgetvalue);
LAZY_FUNCTION(pq, PQnotifies);
LAZY_FUNCTION(pq, PQntuples);
LAZY_FUNCTION(pq, PQprepare);
LAZY_FUNCTION(pq, PQputCopyData);
LAZY_FUNCTION(pq, PQputCopyEnd);
LAZY_FUNCTION(pq, PQresultErrorField);
LAZY_FUNCTION(pq, PQresultStatus);
LAZY_FUNCTION(pq, PQsetNoticeProcessor);
LAZY_FUNCTION(pq, PQsocket);
LAZY_FUNCTION(pq, PQstatus);
LAZY_FUNCTION(pq, PQtransactionStatus);
