-- The best chunks of a notebook's ready sources, best first: one statement, both sides exact.
--
-- near     the vector side: the cosine of every chunk in scope
-- lexical  the keyword side: BM25 of every chunk that holds a word of the question; document
--          frequencies and their total are those of the scope
-- cov      how much of the question (by idf) the best keyword hit holds; 0 across languages, so
--          that a keyword side which understood little weighs little
with scope as materialized (
    select s.id as source_id, s.version_id, s.title
    from notebook_sources l
    join sources s on s.id = l.source_id
    where l.notebook_id = :notebook_id
        and s.status = 'ready'
        and (cast(:source_ids as uuid[]) is null or s.id = any (cast(:source_ids as uuid[])))
        and (cast(:about as uuid) is null or s.id = :about)
),
near as materialized (
    select v.version_id, v.ordinal, 1 - (v.embedding <=> cast(:vector as halfvec)) as similarity
    from chunk_vectors v
    where v.version_id = any (array(select version_id from scope)) and v.set_id = :set_id
),
size as materialized (
    select count(*)::float8 as n,
        avg(similarity) as mean,
        coalesce(nullif(stddev_pop(similarity), 0), 1) as spread
    from near
),
found as materialized (
    select q.word, p.term, p.version_id, p.ordinals, p.weights
    from unnest(cast(:terms as text[]), cast(:words as int[])) as q (term, word)
    join postings p on p.term = q.term
        and p.version_id = any (array(select version_id from scope))
),
idf as materialized (
    select word, term, ln(1 + (size.n - df + 0.5) / (df + 0.5)) as idf
    from (
        select word, term, sum(cardinality(ordinals))::float8 as df from found group by word, term
    ) as counted, size
),
asked as (
    select sum(coalesce(known.idf, ln(1 + (size.n + 0.5) / 0.5))) as mass
    from (select distinct unnest(cast(:words as int[])) as word) as question
    cross join size
    left join (select word, max(idf) as idf from idf group by word) as known using (word)
),
lexical as materialized (
    select f.version_id, u.ordinal, sum(i.idf * u.weight) as bm25, sum(i.idf) as mass
    from found f
    join idf i using (word, term)
    cross join lateral unnest(f.ordinals, f.weights) as u (ordinal, weight)
    group by f.version_id, u.ordinal
),
keywords as materialized (
    select coalesce(sum(bm25), 0) / nullif(size.n, 0) as mean,
        coalesce(nullif(sqrt(greatest(
            sum(bm25 * bm25) / nullif(size.n, 0) - (sum(bm25) / nullif(size.n, 0)) ^ 2, 0)), 0), 1)
            as spread,
        coalesce(least(1, (select mass from lexical order by bm25 desc, version_id, ordinal limit 1)
            / nullif((select mass from asked), 0)), 0) as cov
    from lexical right join size on true
    group by size.n
),
pool as (
    select version_id, ordinal, max(near_rank) as near_rank, max(word_rank) as word_rank
    from (
        (select version_id, ordinal, null::bigint as word_rank,
            row_number() over (order by similarity desc, version_id, ordinal) as near_rank
        from near order by similarity desc, version_id, ordinal limit :candidates)
        union all
        (select version_id, ordinal,
            row_number() over (order by bm25 desc, version_id, ordinal), null
        from lexical where :mode <> 'vector'
        order by bm25 desc, version_id, ordinal limit :candidates)
    ) as candidates
    group by version_id, ordinal
),
ranked as (
    select pool.version_id, pool.ordinal, near.similarity,
        case :mode
            when 'vector' then near.similarity
            when 'rrf' then coalesce(1.0 / (:rrf_k + near_rank), 0)
                + coalesce(1.0 / (:rrf_k + word_rank), 0)
            else 0.7 * (near.similarity - size.mean) / size.spread
                + 0.3 * keywords.cov * (coalesce(lexical.bm25, 0) - keywords.mean) / keywords.spread
        end as score
    from pool
    join near using (version_id, ordinal)
    left join lexical using (version_id, ordinal)
    cross join size
    cross join keywords
    -- The floor is for chunks that share no word with the question.
    where near.similarity >= :floor or (lexical.bm25 is not null and :mode <> 'vector')
    order by score desc, version_id, ordinal
    limit :k
)
select c.id as chunk_id, scope.source_id, ranked.version_id, scope.title as source_title,
    c.passage, c.page, c.start_at, c.language, c.text, ranked.similarity, ranked.score
from ranked
join scope using (version_id)
join chunks c using (version_id, ordinal)
order by ranked.score desc, ranked.version_id, ranked.ordinal
